import { Schema } from "effect"

/** Checks the number of items. The error names the actual number, OpenAPI the bounds. */
export const items = (minimum: number, maximum: number, noun: string) =>
  Schema.makeFilter<ReadonlyArray<unknown>>(
    (list) => (list.length >= minimum && list.length <= maximum) || counted(minimum, maximum, noun, list.length),
    {
      toJsonSchema: () => (minimum === 0 ? { maxItems: maximum } : { minItems: minimum, maxItems: maximum }),
      arbitraryConstraint: { minLength: minimum, maxLength: maximum },
    },
  )

export const counted = (minimum: number, maximum: number, noun: string, actual: number): string =>
  `takes ${minimum === 0 ? "at most" : `${minimum} to`} ${maximum} ${noun}; ${actual} ${actual === 1 ? "was" : "were"} given`

/** Checks the number of texts and each text, and reports all errors at once. */
export const texts = (maximum: number, noun: string, problemOf: (text: string) => string | undefined) =>
  Schema.makeFilter<ReadonlyArray<string>>(
    (list) => {
      const issues = list.flatMap((text, nth) => {
        const issue = problemOf(text)
        return issue === undefined ? [] : [{ path: [nth], issue }]
      })
      return list.length <= maximum ? issues : [{ path: [], issue: counted(0, maximum, noun, list.length) }, ...issues]
    },
    { toJsonSchema: () => ({ maxItems: maximum }), arbitraryConstraint: { maxLength: maximum } },
  )

/** Checks the length in UTF-16 code units. */
export const chars = (maximum: number, minimum: 0 | 1 = 0) =>
  Schema.makeFilter<string>((text) => sized(text, maximum) ?? (text.length >= minimum || "must not be empty"), {
    toJsonSchema: () => (minimum === 0 ? { maxLength: maximum } : { minLength: minimum, maxLength: maximum }),
    arbitraryConstraint: { minLength: minimum, maxLength: maximum },
  })

export const sized = (text: string, maximum: number): string | undefined =>
  text.length > maximum ? `is ${text.length} characters; at most ${maximum} are allowed` : undefined

const BREAK = /[\r\n\0]/u
// A lone surrogate has no UTF-8 form. With the `u` flag a complete pair does not match.
const LONE_SURROGATE = /\p{Surrogate}/u

/** Returns the error if a text could start another header or the body, or cannot be encoded. */
export const problem = (text: string): string | undefined =>
  BREAK.test(text)
    ? "must not contain CR, LF or NUL"
    : LONE_SURROGATE.test(text)
      ? "must not contain an unpaired surrogate"
      : undefined

export const oneLine = Schema.makeFilter<string>((text) => problem(text) ?? true)
