import { decodeStrictly } from "@waybill/api/errors/decodeStrictly"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect, type Schema } from "effect"

/** Decodes a body of another service's API, once its items and fields are counted; refuses unknown fields. */
export const decodeBody = <A, I>(schema: Schema.Codec<A, I>, body: unknown) =>
  Effect.mapError(
    decoderOf(schema as Schema.Codec<A, unknown>)(body),
    ({ details, more }) => new RequestRefusal.InvalidRequest({ reason: "validation_failed", details, more }),
  )

const decoderOf = <A>(schema: Schema.Codec<A, unknown>): Decoder<A> => {
  const known = decoders.get(schema) as Decoder<A> | undefined
  if (known !== undefined) return known
  const decoder = decodeStrictly(schema, "Waybill has no meaning for it, so leave it out")
  decoders.set(schema, decoder)
  return decoder
}
type Decoder<A> = ReturnType<typeof decodeStrictly<A, never>>

/** A decoder for each schema, so that no request makes one. */
const decoders = new WeakMap<object, Decoder<unknown>>()
