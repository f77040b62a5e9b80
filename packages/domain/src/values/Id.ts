import { type Brand, Schema } from "effect"

/** Crockford's alphabet in lower case: without i, l, o and u, so an id can be read aloud. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const UUID_BYTES = 16
const TIME_BYTES = 6
/** 128 bits in groups of five, padded. */
export const ENCODED_LENGTH = 26

/** Pattern of the output of `base32`, without anchors. */
export const BASE32 = `[0-7][${ALPHABET}]{${ENCODED_LENGTH - 1}}`
const ENCODED = new RegExp(`^${BASE32}$`, "u")

const pattern = (prefix: string) =>
  // OpenAPI includes the pattern only if it has the `u` flag.
  Schema.isPattern(new RegExp(`^${prefix}_${BASE32}$`, "u"), {
    message: `must be an id: ${prefix}_ followed by ${ENCODED_LENGTH} characters`,
  })

export const PREFIXES = {
  EmailId: "msg",
  ApiKeyId: "key",
  DomainId: "dom",
  WebhookId: "whk",
  EventId: "evt",
  WebhookDeliveryId: "whd",
  SuppressionId: "sup",
  AccountId: "acc",
  UserId: "usr",
  UnreadReportId: "rep",
  TestClockId: "clk",
  RequestId: "req",
  InboundId: "inb",
  ThreadId: "thr",
  InboundRouteId: "rte",
  TemplateId: "tpl",
} as const

type Name = keyof typeof PREFIXES
type Ids = { readonly [N in Name]: string & Brand.Brand<N> }

const schemaOf = <N extends Name>(name: N) =>
  Schema.String.check(pattern(PREFIXES[name]))
    // The type refuses a union of names, which a parameter could be.
    .pipe(Schema.brand<N>(name as never))
    .annotate({ identifier: name })

export const EmailId = schemaOf("EmailId")
export type EmailId = typeof EmailId.Type
export const ApiKeyId = schemaOf("ApiKeyId")
export type ApiKeyId = typeof ApiKeyId.Type
export const DomainId = schemaOf("DomainId")
export type DomainId = typeof DomainId.Type
export const WebhookId = schemaOf("WebhookId")
export type WebhookId = typeof WebhookId.Type
export const EventId = schemaOf("EventId")
export type EventId = typeof EventId.Type
export const WebhookDeliveryId = schemaOf("WebhookDeliveryId")
export type WebhookDeliveryId = typeof WebhookDeliveryId.Type
export const SuppressionId = schemaOf("SuppressionId")
export type SuppressionId = typeof SuppressionId.Type
export const AccountId = schemaOf("AccountId")
export type AccountId = typeof AccountId.Type
export const UserId = schemaOf("UserId")
export type UserId = typeof UserId.Type
export const UnreadReportId = schemaOf("UnreadReportId")
export type UnreadReportId = typeof UnreadReportId.Type
export const TestClockId = schemaOf("TestClockId")
export type TestClockId = typeof TestClockId.Type
export const RequestId = schemaOf("RequestId")
export type RequestId = typeof RequestId.Type
export const InboundId = schemaOf("InboundId")
export type InboundId = typeof InboundId.Type
export const ThreadId = schemaOf("ThreadId")
export type ThreadId = typeof ThreadId.Type
export const InboundRouteId = schemaOf("InboundRouteId")
export type InboundRouteId = typeof InboundRouteId.Type
export const TemplateId = schemaOf("TemplateId")
export type TemplateId = typeof TemplateId.Type

/**
 * Returns a prefixed UUIDv7 in base32: 48 bits of milliseconds, then random bits. Ids therefore sort by time, and an id
 * is also a cursor. `random` is ten random bytes.
 */
export const make = <N extends Name>(name: N, epochMillis: number, random: Uint8Array): Ids[N] => {
  const uuid = new Uint8Array(UUID_BYTES)
  let rest = epochMillis
  for (let i = TIME_BYTES - 1; i >= 0; i--) {
    uuid[i] = rest % 256
    rest = Math.floor(rest / 256)
  }
  uuid.set(random.subarray(0, UUID_BYTES - TIME_BYTES), TIME_BYTES)
  uuid[6] = 0x70 | ((uuid[6] ?? 0) & 0x0f)
  uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f)
  return `${PREFIXES[name]}_${base32(uuid)}` as Ids[N]
}

/** Two characters for each number of ten bits: a text of few pieces takes less memory. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >>> 5]}${ALPHABET[bits & 31]}`)

/** Encodes 16 bytes as 26 characters. */
export const base32 = (bytes: Uint8Array): string => {
  let out = ""
  // 26 characters hold 130 bits: two zero bits, then the 128 of the UUID.
  let buffer = 0
  let bits = 2
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte
    bits += 8
    if (bits < 10) continue
    bits -= 10
    out += PAIRS[buffer >>> bits] ?? ""
    buffer &= (1 << bits) - 1
  }
  return out
}

/** Decodes the output of `base32`; returns undefined for any other text. */
export const fromBase32 = (text: string): Uint8Array | undefined => {
  if (!ENCODED.test(text)) return undefined
  const bytes = new Uint8Array(UUID_BYTES)
  let buffer = 0
  let bits = -2
  let at = 0
  for (const character of text) {
    buffer = (buffer << 5) | ALPHABET.indexOf(character)
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = buffer >>> bits
    buffer &= (1 << bits) - 1
  }
  return bytes
}

/** Returns the time in an id in milliseconds; 0 for any other text. */
export const timeOf = (id: string): number => {
  const bytes = fromBase32(id.slice(-ENCODED_LENGTH))
  let millis = 0
  for (let i = 0; i < TIME_BYTES; i++) millis = millis * 256 + (bytes?.[i] ?? 0)
  return millis
}

/** Returns the lowest id of a millisecond, for time ranges over ids. Times before 1970 count as 1970. */
export const lowest = (name: Name, epochMillis: number): string =>
  make(name, Math.max(0, epochMillis), new Uint8Array(10))

/** Returns the millisecond of an id. */
export const millisOf = (id: Ids[Name]): number => {
  const bytes = fromBase32(id.slice(id.indexOf("_") + 1)) ?? new Uint8Array(UUID_BYTES)
  return bytes.subarray(0, 6).reduce((millis, byte) => millis * 256 + byte, 0)
}
