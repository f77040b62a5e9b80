import { Schema, SchemaTransformation } from "effect"

/** A text, which programs also write as a number or a boolean. */
export const Text = Schema.Union([Schema.String, Schema.Number, Schema.Boolean]).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform<string, string | number | boolean>({ decode: String, encode: (text) => text }),
  ),
)

/** Node's `Buffer` in JSON. The list of its bytes was replaced by base64 before the body was parsed. */
const BufferInJson = Schema.Struct({ type: Schema.Literal("Buffer"), data: Schema.optional(Schema.String) })

/** The bytes of a file: in base64, as a `Buffer`, or as a list of numbers, of which base64 was made. */
export const FileContent = Schema.Union([Schema.String, BufferInJson]).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform<string, string | typeof BufferInJson.Type>({
      decode: (content) => (typeof content === "string" ? content : (content.data ?? "")),
      encode: (text) => text,
    }),
  ),
)
