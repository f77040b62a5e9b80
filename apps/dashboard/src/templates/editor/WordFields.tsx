import { TextField } from "../../ui/controls/Field.tsx"
import { CodeEditor } from "./code/CodeEditor.tsx"
import type * as Completions from "./code/Completions.ts"
import * as Form from "../content/Form.ts"
import * as LanguageName from "./LanguageName.ts"
import * as Problems from "../content/Problems.ts"

interface Props {
  readonly word: Form.Word
  readonly locale: string | null
  readonly form: Form.Form
  readonly setText: ((name: string, text: string) => void) | undefined
  readonly problems: ReadonlyArray<Problems.TextProblem>
  readonly warnings: ReadonlyArray<Problems.TextProblem>
}

/** One line of the words of a language. */
export const WordField = ({ form, locale, problems, setText, warnings, word }: Props) => {
  const name = Form.nameOf(word, locale)
  const problem = problems.find((each) => Problems.isAbout(each, name))
  const warning = warnings.find((each) => each.path === name)
  return (
    <div data-word={name} className="min-w-0">
      <TextField
        label={Form.labelOf(name)}
        value={form[name] ?? ""}
        readOnly={setText === undefined}
        spellCheck={false}
        placeholder={locale === null ? "" : form[Form.nameOf(word, null)]}
        onChange={(event) => setText?.(name, event.target.value)}
        hint={warning === undefined ? undefined : `${placeOf(warning)}${Problems.sentence(warning.message)}`}
        error={problem === undefined ? undefined : `${placeOf(problem)}${Problems.sentence(problem.message)}`}
      />
    </div>
  )
}

const placeOf = ({ column }: Problems.TextProblem): string => (column === undefined ? "" : `Column ${column}: `)

const EMPTY: { readonly [W in Form.Word]: string } = {
  html: "Empty: there is no HTML.",
  text: "Empty: derived from the HTML.",
  preheader: "Empty: mail programs show the beginning of the text beside the subject.",
  subject: "",
}

/** Where a language finds what it leaves out: not the text, if it has its own HTML. */
const emptyIn = (form: Form.Form, word: Form.Word, locale: string): string =>
  word === "text" && (form[Form.nameOf("html", locale)] ?? "") !== ""
    ? "Empty: derived from the HTML of this language."
    : "Empty: taken from the default, or from a wider language that is here."

/** A text of many lines of a language, with its problems where they are. `isBeside`: another language stands beside it. */
export const CodeField = ({
  form,
  isBeside,
  locale,
  problems,
  setText,
  target,
  variables,
  warnings,
  word,
}: Props & {
  readonly isBeside: boolean
  readonly target: Problems.TextProblem | undefined
  readonly variables: Completions.VariableNode
}) => {
  const name = Form.nameOf(word, locale)
  const label = Form.labelOf(name)
  const value = form[name] ?? ""
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {locale === null && Form.localesOf(form).length === 0 ? undefined : (
        <p className="text-xs font-medium text-ink-2">{LanguageName.shown(locale)}</p>
      )}
      <CodeEditor
        label={label}
        value={value}
        language={word === "html" ? "liquid" : "text"}
        variables={variables}
        onChange={setText === undefined ? undefined : (text) => setText(name, text)}
        problems={problems.filter((each) => each.path === name)}
        warnings={warnings.filter((each) => each.path === name)}
        target={target?.path === name ? target : undefined}
        className={word === "preheader" ? "h-32" : isBeside ? "h-72" : "h-112"}
      />
      {value === "" ? (
        <p className="text-xs text-ink-3">{locale === null ? EMPTY[word] : emptyIn(form, word, locale)}</p>
      ) : undefined}
    </div>
  )
}
