import { decodeStrictly } from "@waybill/api/errors/decodeStrictly"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect, type Schema } from "effect"

/** Decodes a body of another service's API, once its items and fields are counted; refuses unknown fields. */
export const decodeBody = <A, I>(schema: Schema.Codec<A, I>, body: unknown) =>
  Effect.mapError(
    decodeStrictly(schema as Schema.Codec<A, unknown>, "Waybill has no meaning for it, so leave it out")(body),
    ({ details, more }) => new RequestRefusal.InvalidRequest({ reason: "validation_failed", details, more }),
  )
