import * as Id from "@waybill/domain/values/Id"
import { Effect, Option, Schema, SchemaIssue, SchemaTransformation } from "effect"

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

/** Page size. Document.ts adds its bounds to OpenAPI. */
export const limit = (max: number = MAX_LIMIT, defaultLimit: number = DEFAULT_LIMIT) =>
  whole(max, `must be a whole number from 1 to ${max}`).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(String(defaultLimit))),
  )

/**
 * An opaque position in the account's history. Positions of two events cannot be compared, because their distance would
 * reveal how much other accounts send.
 */
export const Position = Schema.String.check(Schema.isPattern(new RegExp(`^pos_${Id.BASE32}$`, "u"))).annotate({
  identifier: "Position",
  description: "A position in the account's history. Opaque: send it back unchanged; do not compare or compute with it",
  examples: ["pos_4xkh5c0bqv8n3t2d7m9s1w6rze"],
})

/** The position to continue from; `0` is the beginning. Whether it belongs to the account is checked later. */
export const From = Schema.String.check(
  Schema.isPattern(new RegExp(`^(?:0|pos_${Id.BASE32})$`, "u"), {
    message: "must be a position from a response (pos_ followed by 26 characters), or 0 for the beginning",
  }),
).annotate({
  identifier: "PositionFrom",
  description: "Where to continue from: a position from a response, or `0` for the beginning",
})

/** Schema of a list. `next_cursor` is the `after` of the next page. */
export const of = <S extends Schema.Top>(item: S) =>
  Schema.Struct({
    object: Schema.Literal("list"),
    has_more: Schema.Boolean,
    next_cursor: Schema.NullOr(Schema.String),
    data: Schema.Array(item),
  })

/** Builds a page from up to `limit + 1` rows. The extra row shows that there are more. */
export const make = <A extends { readonly id: string }>(rows: ReadonlyArray<A>, limit: number) => {
  const data = rows.slice(0, limit)
  const has_more = rows.length > limit
  return { object: "list" as const, has_more, next_cursor: has_more ? (data.at(-1)?.id ?? null) : null, data }
}

/** A page continues in one direction. */
export const oneDirection = Schema.makeFilter<{ readonly after?: string; readonly before?: string }>(
  ({ after, before }) =>
    after === undefined || before === undefined || { path: ["before"], issue: "cannot be combined with `after`" },
)
