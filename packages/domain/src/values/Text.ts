import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import * as HiddenCharacters from "./HiddenCharacters.ts"

/** A parser's result: the value, or an error message that continues the sentence after a field's name. */
export type Parse<A> = (text: string) => Result.Result<A, string>

/** Builds a schema that is a documented string on the wire and the result of a pure parser in memory. */
export const parsed = <A>(
  to: Schema.Codec<A, unknown>,
  wire: { readonly description: string; readonly format?: string; readonly examples: ReadonlyArray<string> },
  parse: Parse<A>,
  format: (value: A) => string,
) =>
  Schema.String.annotate(wire).pipe(
    Schema.decodeTo(
      Schema.toType(to),
      SchemaTransformation.transformEffect<A, string>({
        decode: (text, options) =>
          Result.match(parse(text), {
            onSuccess: (value) => Effect.succeed(value),
            onFailure: (message) => Effect.fail(new SchemaIssue.InvalidValue({ message }, text, options)),
          }),
        encode: (value) => Effect.succeed(format(value)),
      }),
    ),
  )

/** C0 and C1 controls, DEL and the two Unicode line separators. None of them may reach a header or an envelope. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu

export const hasControl = (text: string): boolean => CONTROL.test(text)

/**
 * Whether a text has no lone surrogate. A lone surrogate has no UTF-8 form and would be replaced silently on the wire.
 */
export const isWellFormed = (text: string): boolean => text.isWellFormed()

/** Returns the number of octets in UTF-8 without encoding the text. */
export const octets = (text: string): number => {
  let size = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Each half of a surrogate pair counts two, so a pair counts four.
    size += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return size
}

/** Printable ASCII, with which names have no problem. */
const PLAIN = /^[ -~]*$/u

/** Returns the error in a name, worded to continue after the field's name, or `undefined`. */
export const nameProblem = (name: string): string | undefined => {
  if (PLAIN.test(name)) return undefined
  if (hasControl(name)) return "must not contain control characters or line breaks"
  if (!isWellFormed(name)) return "must not contain an unpaired surrogate"
  return HiddenCharacters.hasHidden(name)
    ? "must not contain invisible characters or characters that change the text direction"
    : undefined
}

/** Schema of a name in a request. Events use `Stored`, so that names from before a stricter rule remain readable. */
export const name = (maximum: number, minimum: 0 | 1 = 1) =>
  Schema.String.check(
    Schema.makeFilter<string>(
      (text) => {
        if (text.length > maximum) return `is ${text.length} characters; at most ${maximum} are allowed`
        return text.length < minimum ? "must not be empty" : (nameProblem(text) ?? true)
      },
      {
        toJsonSchema: () => (minimum === 0 ? { maxLength: maximum } : { minLength: minimum, maxLength: maximum }),
        arbitraryConstraint: { minLength: minimum, maxLength: maximum },
      },
    ),
  )

/** Free text in an event. Postgres' jsonb accepts neither NUL nor a lone surrogate. */
export const Stored = Schema.String.check(
  // oxlint-disable-next-line no-control-regex
  Schema.isPattern(/^[^\u0000\p{Surrogate}]*$/u, { message: "must not contain NUL or an unpaired surrogate" }),
)

/** Clips text from outside to `max` characters and removes what an event cannot hold. */
export const clip = (text: string, max: number): string =>
  text.slice(0, max).toWellFormed().replaceAll(CONTROLS, " ").trim()

const SHOWN_SCHEMES: ReadonlySet<string> = new Set(
  "amqp file ftp http https mongodb mysql postgres postgresql redis smtp smtps ssh tcp".split(" "),
)

/** Returns how a message names the scheme of a URL. Only common ones are shown, because the text may be a secret. */
export const shownScheme = (scheme: string): string =>
  SHOWN_SCHEMES.has(scheme.toLowerCase()) ? `${scheme}:` : "another scheme"
