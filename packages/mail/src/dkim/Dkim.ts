import { LruCache } from "@waybill/domain/values/LruCache"
import { Effect, Redacted, Schema } from "effect"
import { createHash, createPrivateKey, type KeyObject, sign as signBytes } from "node:crypto"
import * as Canonical from "./DkimCanonical.ts"
import type { Algorithm } from "./DkimKey.ts"

/** Maximum number of parsed keys in memory. Parsing a key costs as much as half a signature. */
const PARSED_KEY_LIMIT = 1000
/** RFC 8301 §3.2 forbids signing with less. */
const MIN_RSA_BITS = 1024
const LINE_LENGTH = 76

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
    const fields = Canonical.fields(message.subarray(0, bodyAt))
    const domain = keys[0]?.domain ?? ""
    if (keys.length === 0) return new SigningFailed({ reason: "no_key", domain })
    if (!fields.some((field) => field.name === "from")) return new SigningFailed({ reason: "no_from", domain })
    const bodyHash = createHash("sha256")
      .update(Canonical.relaxedBody(message.subarray(bodyAt)))
      .digest("base64")
    const signed = select(fields)
    const [only, ...others] = keys.map((key) => signature(key, signed, bodyHash))
    const signatures =
      only === undefined || others.length === 0
        ? (only ?? Effect.succeed(""))
        : Effect.map(Effect.all([only, ...others], { concurrency: "unbounded" }), (all) => all.join(""))
    return Effect.map(signatures, (lines) => Buffer.concat([Buffer.from(lines, "latin1"), message]))
  })

const TRIAL = Buffer.from("From: trial@localhost\r\n\r\n")

/** Returns whether the key can sign, before any mail waits for it. */
export const canSign = (key: Key): Effect.Effect<boolean> => Effect.isSuccess(sign(TRIAL, [key]))

interface SignedHeaders {
  readonly names: string
  readonly canonical: string
}

/** RFC 6376 §5.4.2: of a repeated field the lowest instance is signed first. */
const select = (fields: ReadonlyArray<Canonical.HeaderField>): SignedHeaders => {
  const byName = Map.groupBy(fields, ({ name }) => name)
  const names: Array<string> = []
  let canonical = ""
  for (const { isOversigned, lower, name } of SIGNED) {
    for (const field of byName.get(lower)?.toReversed() ?? []) {
      names.push(name)
      canonical += `${Canonical.relaxedHeader(field)}\r\n`
    }
    if (isOversigned) names.push(name)
  }
  return { names: foldList(names), canonical }
}

const signature = Effect.fnUntraced(function* (
  key: Key,
  signed: SignedHeaders,
  bodyHash: string,
): Effect.fn.Return<string, SigningFailed> {
  const refuse = (reason: SigningFailed["reason"]) => new SigningFailed({ reason, domain: key.domain })
  // Refuses names that could end a tag or a line; the DNS allows neither in these names.
  if (!DNS_NAME.test(key.domain) || !DNS_NAME.test(key.selector)) return yield* refuse("bad_selector")
  const privateKey = yield* parsed(key)
  const field =
    `DKIM-Signature: v=1; a=${key.algorithm}-sha256; c=relaxed/relaxed;\r\n d=${key.domain};\r\n s=${key.selector};\r\n` +
    ` h=${signed.names};\r\n bh=${bodyHash};\r\n b=`
  const canonical = Canonical.relaxedHeader({ name: "dkim-signature", raw: Buffer.from(field, "latin1") })
  const data = Buffer.from(signed.canonical + canonical, "latin1")
  const value = yield* Effect.callback<string, SigningFailed>((resume) => {
    const done = (error: Error | null, made: Buffer) =>
      resume(error === null ? Effect.succeed(made.toString("base64")) : refuse("crypto"))
    // RFC 8463 §3: Ed25519 signs the SHA-256 of the data, not the data.
    if (key.algorithm === "ed25519") signBytes(null, createHash("sha256").update(data).digest(), privateKey, done)
    else signBytes("sha256", data, privateKey, done)
  })
  return `${field}${foldValue(value)}\r\n`
})

const DNS_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_\-.]{0,251}[A-Za-z0-9_])?$/

const parsedKeys = new LruCache<string, KeyObject>({ maxEntries: PARSED_KEY_LIMIT })

const parsed = (key: Key): Effect.Effect<KeyObject, SigningFailed> => {
  const cached = parsedKeys.get(key.id)
  if (cached !== undefined) return Effect.succeed(cached)
  const refuse = (reason: SigningFailed["reason"]) => new SigningFailed({ reason, domain: key.domain })
  return Effect.try({
    try: () => createPrivateKey({ key: Buffer.from(Redacted.value(key.privateKey)), format: "der", type: "pkcs8" }),
    // Hides the cause, which may quote the key.
    catch: () => refuse("bad_key"),
  }).pipe(
    Effect.flatMap((privateKey) => {
      if (privateKey.asymmetricKeyType !== key.algorithm) return refuse("key_type")
      const bits = privateKey.asymmetricKeyDetails?.modulusLength
      if (bits !== undefined && bits < MIN_RSA_BITS) return refuse("weak_key")
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

const foldValue = (value: string): string =>
  value.replace(/.{1,72}/g, (piece, at) => (at === 0 ? piece : `\r\n ${piece}`))
