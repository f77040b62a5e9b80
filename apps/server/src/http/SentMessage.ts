import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Idempotency from "@waybill/api/schemas/Idempotency"
import { Option, Schema } from "effect"
import type { IncomingMessage } from "node:http"
import * as BodyScan from "../web/BodyScan.ts"
import type * as PlainSends from "./PlainSends.ts"

const Call = Schema.Struct({ headers: Schema.Struct(Idempotency.headers), payload: Schema.toCodecJson(EmailMessage) })
/** Stops at the first violation, which is several times as fast as finding all. */
const decodeStrictly = Schema.decodeUnknownOption(Call, { onExcessProperty: "error" })
/** Ignores unknown fields, which takes half the time: compiled schemas cannot refuse them. */
const decodeKnown = Schema.decodeUnknownOption(Call)

const FIELDS: ReadonlySet<string> = new Set(Object.keys(EmailMessage.fields))
/** Fields whose objects could have unknown fields of their own. */
const NESTED = ["attachments", "tracking"]

const hasOnlyKnownFields = (payload: object): boolean =>
  Object.keys(payload).every((name) => FIELDS.has(name)) && !NESTED.some((name) => Object.hasOwn(payload, name))

const decode = (call: { readonly headers: object; readonly payload: unknown }) =>
  typeof call.payload === "object" && call.payload !== null && hasOnlyKnownFields(call.payload)
    ? decodeKnown(call)
    : decodeStrictly(call)

const decoder = new TextDecoder()

/** Reads and decodes a valid request whose body has arrived, as it usually has; otherwise leaves the body in the stream. */
export const read = (
  request: IncomingMessage,
  headers: PlainSends.TextHeaders,
  { originOf, translate }: PlainSends.Send,
) => {
  if (request.readableLength !== Number(headers["content-length"])) return undefined
  const bytes = request.read() as Buffer
  try {
    const { problem, values } = BodyScan.scan(bytes)
    if (problem === undefined && values <= BodyScan.MAX_FEW_VALUES) {
      const key = headers["idempotency-key"]
      const given = key === undefined ? {} : { "idempotency-key": key }
      const translated = translate(JSON.parse(decoder.decode(bytes)))
      const call = decode({ headers: given, payload: translated?.body })
      if (translated !== undefined && Option.isSome(call))
        return { ...call.value, bytes, translated, origin: originOf(bytes) }
    }
  } catch {}
  // Put back at once, because the stream ends after this turn of the event loop.
  request.unshift(bytes)
  return undefined
}

/** A message as it was sent, in the shape of Waybill's own API. */
export type SentMessage = NonNullable<ReturnType<typeof read>>
