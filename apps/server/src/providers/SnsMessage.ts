import { LruCache } from "@waybill/domain/collections/LruCache"
import { Clock, Effect, Result } from "effect"
import { type KeyObject, verify, X509Certificate } from "node:crypto"
import { rootCertificates } from "node:tls"
import * as AmazonFetch from "./AmazonFetch.ts"
import * as Event from "./formats/ProviderEvent.ts"

/** Age of a notification beyond which it counts as replayed. Amazon repeats one for up to an hour. */
export const MAX_AGE_MS = 2 * 3_600_000
/** Certificates whose keys are remembered. Amazon changes them about once a year in each region. */
const MAX_CERTIFICATES = 50
/** Certificates of a file that are read. */
const MAX_CHAIN = 10

const NAME = "sns.amazonaws.com"
const FIELDS: Readonly<Record<string, ReadonlyArray<string>>> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
}
const ALGORITHMS: Readonly<Record<string, string>> = { "1": "RSA-SHA1", "2": "RSA-SHA256" }

const keys = new LruCache<string, KeyObject>({ maxEntries: MAX_CERTIFICATES })

/**
 * Checks a notification of Amazon SNS and returns the message in it. Confirms a subscription. Fails with the reason of a
 * refusal. `topic` is the topic that may call; empty allows any that knows the address.
 */
export const open = Effect.fn("SnsMessage.open")(function* (topic: string, body: unknown) {
  const fields = Event.fields(body)
  const type = whole(fields["Type"])
  const signed = FIELDS[type]
  if (signed === undefined) return yield* Effect.fail("not_a_notification")
  const now = yield* Clock.currentTimeMillis
  const age = now - Date.parse(whole(fields["Timestamp"]))
  if (!(Math.abs(age) <= MAX_AGE_MS)) return yield* Effect.fail("signature_too_old")
  if (topic !== "" && whole(fields["TopicArn"]) !== topic) return yield* Effect.fail("topic_wrong")
  const algorithm = ALGORITHMS[whole(fields["SignatureVersion"])]
  if (algorithm === undefined) return yield* Effect.fail("signature_missing")
  const key = yield* keyAt(whole(fields["SigningCertURL"]), now)
  const text = signed.flatMap((name) => (fields[name] === undefined ? [] : [name, whole(fields[name])]))
  const signature = Buffer.from(whole(fields["Signature"]), "base64")
  if (!verify(algorithm, Buffer.from(`${text.join("\n")}\n`), key, signature))
    return yield* Effect.fail("signature_wrong")
  if (type === "Notification") return parsed(whole(fields["Message"]))
  // An unsubscription is left alone: confirming it would subscribe again what its owner ended.
  if (type === "SubscriptionConfirmation") yield* AmazonFetch.get(whole(fields["SubscribeURL"]))
  return undefined
})

const whole = (value: unknown): string => (typeof value === "string" ? value : "")

/** The message of SES in a notification is JSON. Those that say that a topic was set up, and a person's test, are text. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const keyAt = Effect.fnUntraced(function* (url: string, now: number) {
  const cached = keys.get(url)
  if (cached !== undefined) return cached
  const pem = yield* AmazonFetch.get(url)
  const { ca = [] } = yield* AmazonFetch.AmazonHosts
  const key = keyOf(pem, new URL(url).hostname, now, ca)
  if (Result.isFailure(key)) return yield* Effect.fail(key.failure)
  keys.set(url, key.success)
  return key.success
})

/**
 * Returns the key of a certificate that is Amazon's. Amazon serves the certificate alone, over TLS of its own host; if
 * the file has its issuers too, each must have signed the one before it, and a known root the last.
 */
const keyOf = (
  pem: string,
  host: string,
  now: number,
  ca: ReadonlyArray<string>,
): Result.Result<KeyObject, "certificate_wrong"> => {
  const wrong = Result.fail("certificate_wrong" as const)
  try {
    const texts = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? []
    const [leaf, ...issuers] = texts.slice(0, MAX_CHAIN).map((text) => new X509Certificate(text))
    if (leaf === undefined) return wrong
    if (leaf.checkHost(NAME) === undefined && leaf.checkHost(host) === undefined) return wrong
    const chain = [leaf, ...issuers]
    if (chain.some(({ validFrom, validTo }) => now < Date.parse(validFrom) || now > Date.parse(validTo))) return wrong
    if (chain.some((each, nth) => nth > 0 && !isIssuedBy(chain[nth - 1], each))) return wrong
    const roots = () => [...ca, ...rootCertificates].map((text) => new X509Certificate(text))
    const last = chain.at(-1)
    if (issuers.length > 0 && !roots().some((root) => isIssuedBy(last, root) || last?.raw.equals(root.raw) === true))
      return wrong
    return Result.succeed(leaf.publicKey)
  } catch {
    return wrong
  }
}

const isIssuedBy = (certificate: X509Certificate | undefined, issuer: X509Certificate): boolean =>
  certificate !== undefined && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
