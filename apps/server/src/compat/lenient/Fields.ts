import { Schema } from "effect"

/**
 * A text, which programs also write as a number or a boolean; `String` makes it one. Bodies of sends are translated from what
 * they are, because a schema that transforms a field is not compiled as a whole.
 */
export const Text = Schema.Union([Schema.String, Schema.Number, Schema.Boolean])
export type Text = typeof Text.Type
export type Texts = Readonly<Record<string, Text>>

/** Checks a text in the form that it will have. */
export const check = (problemOf: (text: string) => string | undefined) =>
  Schema.makeFilter<Text>((value) => problemOf(String(value)) ?? true)

export const strings = (pairs: Texts): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(pairs).map(([name, value]) => [name, String(value)]))

/** Node's `Buffer` in JSON. The list of its bytes was replaced by base64 before the body was parsed. */
const BufferInJson = Schema.Struct({ type: Schema.Literal("Buffer"), data: Schema.optional(Schema.String) })

/** The bytes of a file: in base64, as a `Buffer`, or as a list of numbers, of which base64 was made. */
export const FileContent = Schema.Union([Schema.String, BufferInJson])

/** The name of a file that has none, as SMTP gives it. */
export const UNNAMED = "attachment"

export const base64Of = (content: typeof FileContent.Type = ""): string =>
  typeof content === "string" ? content : (content.data ?? "")
