import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete"
import { EditorState, type Extension } from "@codemirror/state"

/** Filters beside those of Liquid. */
const FILTERS = ["money", "number", "percent", "plural", "local_date", "local_time", "raw"]

const VARIABLE = /\{\{-?\s*[\w.]*$/u
const FILTER = /\|\s*\w*$/u

const optionsOf = (context: CompletionContext, names: ReadonlyArray<string>, type: string): CompletionResult | null => {
  const word = context.matchBefore(/[\w.]*$/u)
  return names.length === 0
    ? null
    : { from: word?.from ?? context.pos, options: names.map((label) => ({ label, type })), validFor: /^[\w.]*$/u }
}

/** Offers the variables of a template after `{{`, and its filters after `|`. */
export const completionsOf = (variables: ReadonlyArray<string>): Extension => [
  autocompletion({ icons: false }),
  EditorState.languageData.of(() => [
    {
      autocomplete: (context: CompletionContext) => {
        const { from, text } = context.state.doc.lineAt(context.pos)
        const before = text.slice(0, context.pos - from)
        const piece = before.slice(Math.max(before.lastIndexOf("{{"), before.lastIndexOf("{%"), 0))
        if (piece.includes("}}") || piece.includes("%}") || !/^\{[{%]/u.test(piece)) return null
        if (FILTER.test(piece)) return optionsOf(context, FILTERS, "function")
        return VARIABLE.test(piece) ? optionsOf(context, variables, "variable") : null
      },
    },
  ]),
]
