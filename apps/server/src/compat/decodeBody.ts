import { Effect, Schema } from "effect"
import * as Validation from "../http/middleware/Validation.ts"

/** Decodes a body of another service's API; refuses unknown fields, and lists all violations. */
export const decodeBody = <A, I>(schema: Schema.Codec<A, I>, body: unknown) =>
  Schema.decodeUnknownEffect(schema)(body, { errors: "all", onExcessProperty: "error" }).pipe(
    Effect.mapError(({ issue }) => Validation.invalid("Payload", issue)),
  )
