import { Effect, Option, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"

export const DEFAULT_LIMIT = 20
export const MAX_LIMIT = 100

const whole = (max: number, message: string) =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.Int,
      SchemaTransformation.transformEffect<number, string>({
        decode: (text, options) =>
          Option.match(parse(text, max), {
            onSome: (value) => Effect.succeed(value),
            onNone: () => Effect.fail(new SchemaIssue.InvalidValue({ message }, text, options)),
          }),
        encode: (value) => Effect.succeed(String(value)),
      }),
    ),
  )

const parse = (text: string, max: number): Option.Option<number> => {
  const value = /^[0-9]{1,16}$/u.test(text) ? Number(text) : -1
  return value >= 1 && value <= max ? Option.some(value) : Option.none()
}

/** How many at most. The description of its numbers in OpenAPI is added in Document.ts. */
export const limit = (max: number = MAX_LIMIT, otherwise: number = DEFAULT_LIMIT) =>
  whole(max, `must be a whole number from 1 to ${max}`).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(String(otherwise))),
  )

/** A place in the log; 0 is its beginning. */
export const position = Schema.String.pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transformEffect<bigint, string>({
      decode: (text, options) =>
        Result.match(
          /^[0-9]{1,18}$/u.test(text)
            ? Result.succeed(BigInt(text))
            : Result.fail("must be a position, a whole number of at most 18 digits"),
          {
            onSuccess: (value) => Effect.succeed(value),
            onFailure: (message) => Effect.fail(new SchemaIssue.InvalidValue({ message }, text, options)),
          },
        ),
      encode: (value) => Effect.succeed(String(value)),
    }),
  ),
)

/** A list and how to go on from it: `next_cursor` is what to pass as `after`. */
export const of = <S extends Schema.Top>(item: S) =>
  Schema.Struct({
    object: Schema.Literal("list"),
    has_more: Schema.Boolean,
    next_cursor: Schema.NullOr(Schema.String),
    data: Schema.Array(item),
  })

/** A page out of rows of which one more than `limit` was read, to see whether there are more. */
export const make = <A extends { readonly id: string }>(rows: ReadonlyArray<A>, limit: number) => {
  const data = rows.slice(0, limit)
  const has_more = rows.length > limit
  return { object: "list" as const, has_more, next_cursor: has_more ? (data.at(-1)?.id ?? null) : null, data }
}
