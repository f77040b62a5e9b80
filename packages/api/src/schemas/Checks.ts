import * as Text from "@waybill/domain/values/Text"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import * as UnknownNames from "../errors/UnknownNames.ts"
import * as Counts from "../errors/Counts.ts"

/**
 * Checks the number of items. The error names the actual number, OpenAPI the bounds. Fewer than the minimum are let through
 * down to `least`, for what decodes them to refuse.
 */
export const items = (minimum: number, maximum: number, noun: string, least = minimum) =>
  Schema.makeFilter<ReadonlyArray<unknown>>(
    (list) => (list.length >= least && list.length <= maximum) || counted(minimum, maximum, noun, list.length),
    {
      ...Counts.annotation({ maximum, message: (actual) => counted(minimum, maximum, noun, actual) }),
      toJsonSchema: () => (minimum === 0 ? { maxItems: maximum } : { minItems: minimum, maxItems: maximum }),
      arbitraryConstraint: { minLength: minimum, maxLength: maximum },
    },
  )

export const counted = (minimum: number, maximum: number, noun: string, actual: number): string =>
  `takes ${minimum === 0 ? "at most" : `${minimum} to`} ${maximum} ${noun}; ${actual} ${actual === 1 ? "was" : "were"} given`

interface Issue {
  readonly path: ReadonlyArray<number>
  readonly issue: string
}

/** Checks the number of texts and each text, and reports all errors at once. */
export const texts = (maximum: number, noun: string, problemOf: (text: string) => string | undefined) =>
  Schema.makeFilter<ReadonlyArray<string>>(
    (list) => {
      const issues: Array<Issue> = []
      if (list.length > maximum) issues.push({ path: [], issue: counted(0, maximum, noun, list.length) })
      for (const [nth, text] of list.entries()) {
        const issue = problemOf(text)
        if (issue !== undefined) issues.push({ path: [nth], issue })
      }
      return issues
    },
    {
      ...Counts.annotation({ maximum, message: (actual) => counted(0, maximum, noun, actual) }),
      toJsonSchema: () => ({ maxItems: maximum }),
      arbitraryConstraint: { maxLength: maximum },
    },
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

/** Returns the error if a text could start another header or the body, or cannot be encoded. */
export const problem = (text: string): string | undefined =>
  BREAK.test(text)
    ? "must not contain CR, LF or NUL"
    : Text.isWellFormed(text)
      ? undefined
      : "must not contain an unpaired surrogate"

export const oneLine = Schema.makeFilter<string>((text) => problem(text) ?? true)

/** Refuses what Postgres' jsonb does not hold. */
export const stored = Schema.makeFilter<string>(
  (text) => (!text.includes("\0") && Text.isWellFormed(text)) || "must not contain NUL or an unpaired surrogate",
)

/** One or several values, separated by commas. */
export const commaList = <S extends Schema.Top & { readonly literals: ReadonlyArray<string> }>(
  item: S,
  description: string,
  examples: readonly [string, ...Array<string>],
) => {
  const isItem = Schema.is(item)
  const otherwise = `takes one or several of ${item.literals.join(", ")}`
  return Schema.String.annotate({ description, examples }).pipe(
    Schema.decodeTo(
      Schema.Array(item),
      SchemaTransformation.transformEffect<ReadonlyArray<S["Type"]>, string>({
        decode: (text) => {
          const words = text.split(",").map((word) => word.trim())
          const items = words.filter(isItem)
          if (items.length === words.length) return Effect.succeed(items)
          const unknown = words.find((word) => !isItem(word)) ?? ""
          const message = UnknownNames.suggest(unknown, item.literals) ?? otherwise
          return Effect.fail(new SchemaIssue.InvalidValue({ message }))
        },
        encode: (items) => Effect.succeed(items.join(",")),
      }),
    ),
  )
}

/** One or several codes of three digits or classes of them, such as `550` and `5xx`, separated by commas. */
export const codeList = (
  noun: string,
  maximum: number,
  isCode: (text: string) => boolean,
  description: string,
  [code, group]: readonly [code: string, group: string],
) =>
  Schema.String.annotate({ description, examples: [group, `${code},${group}`] }).pipe(
    Schema.decodeTo(
      Schema.Array(Schema.String),
      SchemaTransformation.transformEffect<ReadonlyArray<string>, string>({
        decode: (text) => {
          const words = text.split(",").map((word) => word.trim())
          if (words.length <= maximum && words.every(isCode)) return Effect.succeed(words)
          const message = `takes up to ${maximum} ${noun} such as ${code}, or classes such as ${group}, separated by commas`
          return Effect.fail(new SchemaIssue.InvalidValue({ message }))
        },
        encode: (codes) => Effect.succeed(codes.join(",")),
      }),
    ),
  )
