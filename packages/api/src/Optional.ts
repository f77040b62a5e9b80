import { Effect, Schema } from "effect"

/** A field of a request that may be left out; `null` says the same. */
export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema)
    .annotate({ description })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
