import * as SteeringHeader from "@waybill/domain/account/SteeringHeader"
import type { Authentication, Envelope } from "@waybill/domain/inbound/InboundState"
import type { InboundId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Compose from "../compose/Compose.ts"
import * as ArcSeal from "../dkim/ArcSeal.ts"
import * as Canonical from "../dkim/DkimCanonical.ts"

/** The way of a forwarded mail, which its added header tells. */
export interface Forwarding {
  readonly inbound_id: InboundId
  /** When the mail came in. */
  readonly at: Timestamp.Timestamp
  readonly envelope: Envelope
  /** The address that the header names as the author. */
  readonly author: string
  readonly auth: Authentication
  /** Name of this server. */
  readonly server: string
  /** Headers of this service. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Message-ID for a mail that has none. */
  readonly messageId: string
}

export interface ForwardedMail {
  readonly bytes: Uint8Array
  readonly smtpUtf8: boolean
  /** Absent if the finding about the chain of the mail lets nobody continue it. */
  readonly findings: ArcSeal.Findings | undefined
}

/**
 * Returns a mail as it is forwarded: its bytes, below the trace of this server (RFC 5321 §4.4), without fields that steer a
 * provider. Undefined if its header is too large to be read for them.
 */
export const forwardedMail = (bytes: Uint8Array, forwarding: Forwarding): ForwardedMail | undefined => {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const bodyAt = Canonical.splitAt(message)
  // A stranger decides how long the header is, and this runs between the requests of others.
  if (bodyAt > ArcSeal.MAX_HEADER_BYTES) return undefined
  // A mail that begins with an empty line has no header.
  const fields = message[0] === CR ? [] : Canonical.fields(message, bodyAt)
  const kept = fields.filter(isForwarded)
  const own = [
    ...forwarding.headers,
    ["Received", traceOf(forwarding)],
    ...(kept.some(({ name }) => name === "message-id") ? [] : [["Message-ID", forwarding.messageId]]),
  ]
  const mail = kept.length === fields.length ? message : withHeader(kept, message)
  // White space at the start would continue the field above.
  if (isSpace(mail[0])) own.push(["Comments", "The mail began with white space."])
  const added = Buffer.from(own.map(([name, value]) => `${name}: ${value}\r\n`).join(""))
  return {
    bytes: Buffer.concat([added, mail]),
    smtpUtf8: kept.some(({ name, raw }) => ADDRESSED.has(name) && hasUtf8Address(raw.slice(0, MAX_ADDRESS_CHARS))),
    findings: findingsOf(forwarding),
  }
}

const withHeader = (fields: ReadonlyArray<Canonical.HeaderField>, message: Buffer): Buffer => {
  const end = message.indexOf("\r\n\r\n")
  const header = Buffer.from(fields.map(({ raw }) => `${raw}\r\n`).join(""), "latin1")
  return end === -1 ? header : Buffer.concat([header, message.subarray(end + 2)])
}

/** Fields that servers obey and no mail has on its way: more recipients, and the return path. */
const OBEYED: ReadonlySet<string> = new Set(["bcc", "resent-bcc", "return-path"])
/** Readers may take a part of any other name for the whole. */
const NAME = /^[!-9;-~]+$/u

/** Strangers write the header, and a provider behind a relay would take what it says for that of its customer. */
const isForwarded = ({ name }: Canonical.HeaderField): boolean =>
  NAME.test(name) && !OBEYED.has(name) && !SteeringHeader.isSteering(name)

/** Characters of a field in which an address beyond ASCII is looked for. */
const MAX_ADDRESS_CHARS = 4_096
const ADDRESSED: ReadonlySet<string> = new Set(["from", "sender", "to", "cc", "reply-to"])
const CR = 0x0d

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09

/** Whether there is an address with octets beyond ASCII, which only SMTPUTF8 carries (RFC 6531). Each word is read once. */
const hasUtf8Address = (raw: string): boolean =>
  // Not \s: in latin1 a no-break space is half of some UTF-8 character.
  raw.split(/[\t\r\n "<>(),;]/u).some((word) => word.includes("@") && BEYOND_ASCII.test(word))

const BEYOND_ASCII = /[\u0080-\u00ff]/u

/** Text of the client that can stand in a header: a name, an address, or nothing. */
const plain = (text: string | null): string => {
  const kept = (text ?? "").replaceAll(/[^\w.:@+=[\]-]/gu, "")
  return kept === text ? kept : ""
}

const traceOf = ({ at, envelope, inbound_id, server }: Forwarding): string => {
  const { helo, remote_ip, tls, to } = envelope
  const client = [plain(helo) || "unknown", ...(remote_ip === null ? [] : [`([${plain(remote_ip)}])`])].join(" ")
  const first = to.length === 1 ? plain(to[0] ?? "") : ""
  return (
    `from ${client}\r\n by ${server} with ${tls === null ? "ESMTP" : "ESMTPS"} id ${inbound_id}` +
    `${first === "" ? "" : `\r\n for <${first}>`};\r\n ${Compose.date(at)}`
  )
}

const findingsOf = ({ at, auth, author, envelope, server }: Forwarding): ArcSeal.Findings | undefined => {
  const { arc, dkim, dmarc, spf } = auth
  if (arc !== "none" && arc !== "pass") return undefined
  const property = (name: string, value: string) => (plain(value) === "" ? "" : ` ${name}=${plain(value)}`)
  const results = [
    `spf=${spf}${property("smtp.mailfrom", envelope.from)}`,
    ...(dkim.length === 0
      ? ["dkim=none"]
      : dkim.map((each) => `dkim=${each.result}${property("header.d", each.domain)}`)),
    `dmarc=${dmarc}${property("header.from", author.slice(author.lastIndexOf("@") + 1))}`,
    `arc=${arc}`,
  ]
  return { chain: arc, results: [server, ...results].join(";\r\n "), at: Math.floor(Date.parse(at) / 1_000) }
}
