import { TextField } from "../../ui/controls/Field.tsx"
import { CodeEditor } from "./CodeEditor.tsx"
import * as Form from "./Form.ts"
import * as Problems from "./Problems.ts"

interface Props {
  readonly word: Form.Word
  readonly locale: string | null
  readonly form: Form.Form
  readonly setText: ((name: string, text: string) => void) | undefined
  readonly problems: ReadonlyArray<Problems.TextProblem>
}

/** One line of the words of a language. */
export const WordField = ({ form, locale, problems, setText, word }: Props) => {
  const name = Form.nameOf(word, locale)
  const problem = problems.find((each) => Problems.isAbout(each, name))
  return (
    <TextField
      label={Form.labelOf(name)}
      value={form[name] ?? ""}
      readOnly={setText === undefined}
      spellCheck={false}
      placeholder={locale === null ? "" : form[Form.nameOf(word, null)]}
      onChange={(event) => setText?.(name, event.target.value)}
      error={problem === undefined ? undefined : `${placeOf(problem)}${Problems.sentence(problem.message)}`}
    />
  )
}

const placeOf = ({ column }: Problems.TextProblem): string => (column === undefined ? "" : `Column ${column}: `)

const EMPTY: { readonly [W in Form.Word]: string } = {
  html: "Empty: there is no HTML.",
  text: "Empty: derived from the HTML.",
  preheader: "Empty: mail programs show the beginning of the text beside the subject.",
  subject: "",
}

/** A text of many lines of a language, with its problems where they are. `isBeside`: another language stands beside it. */
export const CodeField = ({
  form,
  isBeside,
  locale,
  problems,
  setText,
  word,
}: Props & { readonly isBeside: boolean }) => {
  const name = Form.nameOf(word, locale)
  const label = Form.labelOf(name)
  const value = form[name] ?? ""
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      {locale === null && Form.localesOf(form).length === 0 ? undefined : (
        <p className="text-xs font-medium text-ink-2">{locale ?? "Own language"}</p>
      )}
      <CodeEditor
        label={label}
        value={value}
        language={word === "html" ? "liquid" : "text"}
        onChange={setText === undefined ? undefined : (text) => setText(name, text)}
        problems={problems.filter((each) => each.path === name)}
        className={word === "preheader" ? "h-32" : isBeside ? "h-72" : "h-112"}
      />
      {value === "" ? (
        <p className="text-xs text-ink-3">
          {locale === null ? EMPTY[word] : "Empty: taken from the wider language, at last from the template."}
        </p>
      ) : undefined}
    </div>
  )
}
