import { Option, Schema, SchemaGetter } from "effect"

const NULL = Option.some(null)

/** An absent field is `null`. As `withDecodingDefaultKey`, but without effects: a message has ten such fields. */
export const nullIfAbsent = <S extends Schema.Top & { readonly Encoded: unknown }>(schema: S) =>
  Schema.optionalKey(Schema.toEncoded(schema)).pipe(
    Schema.decodeTo(schema, {
      decode: SchemaGetter.transformOptional<S["Encoded"], S["Encoded"]>((value) =>
        Option.isNone(value) ? NULL : value,
      ),
      encode: SchemaGetter.passthrough(),
    }),
  )
