import { ApiError } from "../../api/ApiError.ts"
import type { TemplateValidation } from "../../api/Records.ts"

/** A problem of a text of a template, with its place. */
export interface TextProblem {
  /** Name of the text, such as `html` or `locales.de.subject`; empty for the whole template. */
  readonly path: string
  readonly message: string
  readonly line: number | undefined
  readonly column: number | undefined
}

const PLACE = / \(line (\d+), column (\d+)\)$/u

const problemOf = ({ message, path }: TemplateValidation["problems"][number]): TextProblem => {
  const [place, line, column] = PLACE.exec(message) ?? []
  return {
    path,
    message: place === undefined ? message : message.slice(0, -place.length),
    line: line === undefined ? undefined : Number(line),
    column: column === undefined ? undefined : Number(column),
  }
}

export const of = (details: TemplateValidation["problems"]): ReadonlyArray<TextProblem> => details.map(problemOf)

/** Returns what an error says about texts: that of a schema that is no JSON, or of a refused request. */
export const inError = (error: unknown): ReadonlyArray<TextProblem> => {
  if (error instanceof SyntaxError)
    return [{ path: "variables", message: "is no JSON", line: undefined, column: undefined }]
  if (!(error instanceof ApiError)) return []
  return error.details.length > 0 ? of(error.details) : of([{ path: "", message: error.message }])
}

/** Whether a problem is about a text, or about a part of it, as `variables.properties.x` is. */
export const isAbout = ({ path }: TextProblem, name: string): boolean => path === name || path.startsWith(`${name}.`)

/** Words of the API for a language whose HTML stands under a subject or preheader of another one. */
const UNTRANSLATED = "is missing: that of the wider language stands beside this HTML"

/** Returns a sentence: the API begins with what a text does. */
export const sentence = (message: string): string => {
  if (message === UNTRANSLATED) return "Not translated. Readers see the default one with the HTML of this language."
  const text = /^(?:is|has|uses|makes|writes|takes|must|needs) /u.test(message) ? `It ${message}` : message
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/u.test(text) ? "" : "."}`
}

/** Whether a problem stands in the way of a language: not that of another one, which it does not fall back to. */
export const isIn = ({ path }: TextProblem, locale: string | null): boolean => {
  const [, tag] = /^locales\.([^.]+)\./u.exec(path) ?? []
  return tag === undefined || isNeeded(tag, locale)
}

/** Whether a language of a template is the one that is wanted, or a wider one of it. */
export const isNeeded = (tag: string, locale: string | null): boolean =>
  locale !== null && `${locale.toLowerCase()}-`.startsWith(`${tag.toLowerCase()}-`)

/** Path of the values by which the editor renders. */
export const SAMPLE = "sample"

/** Returns what an error of a rendering says: its paths are those of the values if they do not fit. */
export const inSample = (error: unknown): ReadonlyArray<TextProblem> => {
  const found = inError(error)
  if (error instanceof SyntaxError)
    return found.map((each) => ({ ...each, path: SAMPLE, message: "is no JSON object" }))
  const isOfValues = error instanceof ApiError && error.reason === "template_variables_invalid"
  return isOfValues
    ? found.map(({ message, path, ...place }) => ({ ...place, path: SAMPLE, message: `\`${path}\` ${message}` }))
    : found
}
