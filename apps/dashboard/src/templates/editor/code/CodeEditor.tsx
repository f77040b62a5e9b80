import { autocompletion, type CompletionContext } from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands"
import { json } from "@codemirror/lang-json"
import { liquid, liquidLanguage } from "@codemirror/lang-liquid"
import { bracketMatching, syntaxHighlighting } from "@codemirror/language"
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint"
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search"
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state"
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view"
import { useEffect, useId, useRef } from "react"
import { cx } from "../../../ui/display/cx.ts"
import * as CodeTheme from "./CodeTheme.ts"
import * as Completions from "./Completions.ts"
import * as Problems from "../../content/Problems.ts"
import * as TypeOver from "./TypeOver.ts"

const LANGUAGES: { readonly [L in "liquid" | "json" | "text"]: () => Extension } = {
  liquid: () => liquid(),
  json: () => json(),
  text: () => liquidLanguage,
}

interface Props {
  readonly label: string
  readonly value: string
  readonly onChange?: ((value: string) => void) | undefined
  readonly language: keyof typeof LANGUAGES
  /** Variables that are offered while a template is typed. */
  readonly variables?: Completions.VariableNode | undefined
  readonly problems?: ReadonlyArray<Problems.TextProblem>
  readonly warnings?: ReadonlyArray<Problems.TextProblem>
  /** Place to go to. */
  readonly target?: Problems.TextProblem | undefined
  readonly className?: string
}

const NONE: ReadonlyArray<Problems.TextProblem> = []

/**
 * Editor of a text. It stands in a shadow tree, where its styles are a sheet that is adopted: the dashboard's policy allows
 * no style element.
 */
export const CodeEditor = ({
  className,
  label,
  language,
  onChange,
  problems = NONE,
  target,
  value,
  variables,
  warnings = NONE,
}: Props) => {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef({ onChange, variables })
  const access = useRef(new Compartment())
  const hint = useId()
  const isEditable = onChange !== undefined
  useEffect(() => {
    latest.current = { onChange, variables }
  })
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" })
    const editor = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          highlightSelectionMatches(),
          lintGutter(),
          EditorView.lineWrapping,
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
          TypeOver.typeOver,
          LANGUAGES[language](),
          autocompletion({
            icons: false,
            override: language === "json" ? [] : [(context) => offer(latest.current.variables, context)],
          }),
          syntaxHighlighting(CodeTheme.highlighting),
          CodeTheme.theme,
          EditorView.contentAttributes.of({
            "aria-label": label,
            tabindex: "0",
            "aria-description": "Press Escape and then Tab to leave the editor.",
          }),
          access.current.of([]),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            if (docChanged && !transactions.some((each) => each.isUserEvent("outside")))
              latest.current.onChange?.(state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => {
      view.current = undefined
      editor.destroy()
    }
    // The value and the label change without a new editor.
  }, [language, label])
  useEffect(() => {
    view.current?.dispatch({
      effects: access.current.reconfigure(isEditable ? [] : [EditorState.readOnly.of(true)]),
    })
  }, [isEditable, language, label])
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || editor.state.doc.toString() === value) return
    const changes = { from: 0, to: editor.state.doc.length, insert: value }
    editor.dispatch({ changes, userEvent: "outside" })
  }, [value])
  useEffect(() => {
    const editor = view.current
    if (editor === undefined) return
    const { doc } = editor.state
    const all = [...diagnosticsOf(problems, doc, "error"), ...diagnosticsOf(warnings, doc, "warning")]
    editor.dispatch(setDiagnostics(editor.state, all))
  }, [problems, warnings, value, language, label])
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || target === undefined) return
    const anchor = offsetOf(target, editor.state.doc)
    editor.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) })
    editor.focus()
  }, [target])
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div
        ref={host}
        data-editor={label}
        aria-describedby={hint}
        className={cx(
          "overflow-hidden rounded-lg border border-line-strong focus-within:border-accent focus-within:outline-1 focus-within:outline-accent",
          className ?? "h-96",
        )}
      />
      {isEditable ? (
        <p id={hint} className="text-xs text-ink-3">
          <kbd className="font-sans">Esc</kbd> and then <kbd className="font-sans">Tab</kbd> leaves the editor.
        </p>
      ) : undefined}
    </div>
  )
}

const offer = (variables: Completions.VariableNode | undefined, { explicit, pos, state }: CompletionContext) =>
  Completions.complete(variables ?? {}, state.sliceDoc(0, pos), explicit)

/** A problem without a place is that of the first line. */
const diagnosticsOf = (
  problems: ReadonlyArray<Problems.TextProblem>,
  text: Text,
  severity: Diagnostic["severity"],
): ReadonlyArray<Diagnostic> =>
  problems.map((problem) => {
    const from = offsetOf(problem, text)
    const { text: line, to, from: start } = text.lineAt(from)
    const word = /^[\w.]+/u.exec(line.slice(from - start))?.[0].length ?? 2
    return { from, to: Math.min(from + word, to), severity, message: Problems.sentence(problem.message) }
  })

const offsetOf = ({ column = 1, line = 1 }: Problems.TextProblem, text: Text): number => {
  const at = text.line(Math.min(Math.max(1, line), text.lines))
  return Math.min(at.from + column - 1, at.to)
}
