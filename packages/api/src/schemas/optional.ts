import { Effect, Schema } from "effect"

/** An optional request field. `null` means the same as absent. */
export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema)
    .annotate({ description })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
