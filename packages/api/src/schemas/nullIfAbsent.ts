import { Option, Schema, SchemaGetter } from "effect"
import * as Counts from "../errors/Counts.ts"

const NULL = Option.some(null)

/** An absent field is `null`. As `withDecodingDefaultKey`, but without effects: a message has ten such fields. */
export const nullIfAbsent = <S extends Schema.Top & { readonly Encoded: unknown }>(schema: S) =>
  Schema.optionalKey(Schema.toEncoded(schema).annotate(Counts.shape(schema.ast))).pipe(
    Schema.decodeTo(schema, {
      decode: SchemaGetter.transformOptional<S["Encoded"], S["Encoded"]>((value) =>
        Option.isNone(value) ? NULL : value,
      ),
      encode: SchemaGetter.passthrough(),
    }),
  )
