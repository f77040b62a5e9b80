import { LruCache } from "@waybill/runtime/collections/LruCache"
import { Effect, Redacted, Schema } from "effect"
import { createHash, createPrivateKey, type KeyObject, sign as signBytes } from "node:crypto"
import * as Canonical from "./DkimCanonical.ts"
import type { Algorithm } from "./DkimKey.ts"

/** Maximum number of parsed keys in memory. Parsing a key costs as much as half a signature. */
const PARSED_KEY_LIMIT = 1000
/** RFC 8301 §3.2 forbids signing with less. */
const MIN_RSA_BITS = 1024
const LINE_LENGTH = 76
/** Characters of a signature's value on a line. */
const VALUE_LENGTH = 72

/**
 * Headers signed once more than they occur (RFC 6376 §8.15), so that none can be added or repeated on the way. The last
 * two are here because RFC 8058 §4 wants them covered.
 */
const OVERSIGNED = [
  "From",
  "Sender",
  "Reply-To",
  "To",
  "Cc",
  "Subject",
  "Date",
  "Message-ID",
  "In-Reply-To",
  "References",
  "MIME-Version",
  "Content-Type",
  "Content-Transfer-Encoding",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
]
/** Headers signed as often as they occur: relays and lists may rightly add their own. */
const SIGNED_WHERE_PRESENT = ["List-Id", "List-Help", "List-Archive", "Feedback-ID", "Auto-Submitted", "Precedence"]
const SIGNED = [...OVERSIGNED, ...SIGNED_WHERE_PRESENT].map((name, nth) => ({
  name,
  lower: name.toLowerCase(),
  isOversigned: nth < OVERSIGNED.length,
}))

export interface Key {
  /** Never reused: the parsed key is cached by it. */
  readonly id: string
  readonly domain: string
  readonly selector: string
  readonly algorithm: Algorithm
  /** PKCS #8 DER. */
  readonly privateKey: Redacted.Redacted<Uint8Array>
}

export class SigningFailed extends Schema.TaggedError<SigningFailed>()("SigningFailed", {
  reason: Schema.Literals(["no_key", "no_from", "bad_key", "bad_selector", "key_type", "weak_key", "crypto"]),
  domain: Schema.String,
}) {
  override get message() {
    return `No DKIM signature for ${this.domain}: ${this.reason}`
  }
}

/**
 * Returns the message with one signature a key on top, or fails: mail never leaves unsigned because a key did not work.
 * There is no `t=`, and both algorithms are deterministic, so a retry is the same mail byte for byte.
 */
export const sign = (bytes: Uint8Array, keys: ReadonlyArray<Key>): Effect.Effect<Uint8Array, SigningFailed> =>
  Effect.suspend(() => {
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const bodyAt = Canonical.splitAt(message)
    const fields = Canonical.fields(message, bodyAt)
    const [key, ...others] = keys
    if (key === undefined) return Effect.fail(new SigningFailed({ reason: "no_key", domain: "" }))
    if (!fields.some((field) => field.name === "from")) return Effect.fail(refusal(key, "no_from"))
    const bodyHash = createHash("sha256")
      .update(Canonical.relaxedBody(message.subarray(bodyAt)))
      .digest("base64")
    const signed = select(fields)
    const first = signature(key, signed, bodyHash)
    const signatures =
      others.length === 0
        ? first
        : Effect.map(
            Effect.all([first, ...others.map((other) => signature(other, signed, bodyHash))], {
              concurrency: "unbounded",
            }),
            (all) => all.join(""),
          )
    return Effect.map(signatures, (lines) => {
      const out = Buffer.allocUnsafe(lines.length + message.length)
      message.copy(out, out.write(lines, "latin1"))
      return out
    })
  })

export const refusal = ({ domain }: Key, reason: SigningFailed["reason"]) => new SigningFailed({ reason, domain })

const TRIAL = Buffer.from("From: trial@localhost\r\n\r\n")

/** Returns whether the key can sign, before any mail waits for it. */
export const canSign = (key: Key): Effect.Effect<boolean> => Effect.isSuccess(sign(TRIAL, [key]))

export interface SignedHeaders {
  /** Names of the fields, folded as they stand in a signature. */
  readonly names: string
  readonly canonical: string
}

/** RFC 6376 §5.4.2: of a repeated field the lowest instance is signed first. */
export const select = (
  fields: ReadonlyArray<Canonical.HeaderField>,
  also: ReadonlyArray<string> = [],
): SignedHeaders => {
  let names = ""
  let canonical = ""
  const others = also.map((name) => ({ name, lower: name.toLowerCase(), isOversigned: false }))
  for (const { isOversigned, lower, name } of others.length === 0 ? SIGNED : [...SIGNED, ...others]) {
    for (let at = fields.length - 1; at >= 0; at--) {
      const field = fields[at]
      if (field === undefined || field.name !== lower) continue
      names += `:${name}`
      canonical += `${Canonical.relaxedHeader(field)}\r\n`
    }
    if (isOversigned) names += `:${name}`
  }
  return { names: foldList(names.slice(1).split(":")), canonical }
}

const signature = (key: Key, signed: SignedHeaders, bodyHash: string): Effect.Effect<string, SigningFailed> => {
  // Refuses names that could end a tag or a line; the DNS allows neither in these names.
  if (!isNamed(key)) return Effect.fail(refusal(key, "bad_selector"))
  const field =
    `DKIM-Signature: v=1; a=${key.algorithm}-sha256; c=relaxed/relaxed;\r\n d=${key.domain};\r\n s=${key.selector};\r\n` +
    ` h=${signed.names};\r\n bh=${bodyHash};\r\n b=`
  const canonical = Canonical.relaxedHeader({ name: "dkim-signature", raw: field })
  return Effect.map(signText(key, signed.canonical + canonical), (value) => `${field}${value}\r\n`)
}

/** Returns the signature of a canonical text, folded as the value of a tag. Each character is an octet. */
export const signText = (key: Key, text: string): Effect.Effect<string, SigningFailed> => {
  const data = Buffer.from(text, "latin1")
  return Effect.flatMap(parsed(key), (privateKey) =>
    Effect.callback((resume) => {
      const done = (error: Error | null, made: Buffer) =>
        resume(
          error === null ? Effect.succeed(foldValue(made.toString("base64"))) : Effect.fail(refusal(key, "crypto")),
        )
      // RFC 8463 §3: Ed25519 signs the SHA-256 of the data, not the data.
      if (key.algorithm === "ed25519") signBytes(null, createHash("sha256").update(data).digest(), privateKey, done)
      else signBytes("sha256", data, privateKey, done)
    }),
  )
}

/** Whether the names of a key can stand in a signature. */
export const isNamed = ({ domain, selector }: Key): boolean => DNS_NAME.test(domain) && DNS_NAME.test(selector)

const DNS_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_\-.]{0,251}[A-Za-z0-9_])?$/

const parsedKeys = new LruCache<string, KeyObject>({ maxEntries: PARSED_KEY_LIMIT })

const parsed = (key: Key): Effect.Effect<KeyObject, SigningFailed> => {
  const cached = parsedKeys.get(key.id)
  if (cached !== undefined) return Effect.succeed(cached)
  return Effect.try({
    try: () => createPrivateKey({ key: Buffer.from(Redacted.value(key.privateKey)), format: "der", type: "pkcs8" }),
    // Hides the cause, which may quote the key.
    catch: () => refusal(key, "bad_key"),
  }).pipe(
    Effect.flatMap((privateKey) => {
      if (privateKey.asymmetricKeyType !== key.algorithm) return Effect.fail(refusal(key, "key_type"))
      const bits = privateKey.asymmetricKeyDetails?.modulusLength
      if (bits !== undefined && bits < MIN_RSA_BITS) return Effect.fail(refusal(key, "weak_key"))
      parsedKeys.set(key.id, privateKey)
      return Effect.succeed(privateKey)
    }),
  )
}

const foldList = (names: ReadonlyArray<string>): string => {
  let out = ""
  let column = 3
  for (const [index, name] of names.entries()) {
    const piece = index === 0 ? name : `:${name}`
    if (column + piece.length > LINE_LENGTH) {
      out += "\r\n "
      column = 1
    }
    out += piece
    column += piece.length
  }
  return out
}

/** A loop, which is faster here than a regular expression. */
const foldValue = (value: string): string => {
  let out = value.slice(0, VALUE_LENGTH)
  for (let at = VALUE_LENGTH; at < value.length; at += VALUE_LENGTH) out += `\r\n ${value.slice(at, at + VALUE_LENGTH)}`
  return out
}
