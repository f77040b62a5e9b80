import { valueOr } from "@waybill/runtime/flow/valueOr"
import * as Table from "@waybill/domain/values/Table"
import { Clock, Effect } from "effect"
import { verify } from "node:crypto"
import * as AmazonFetch from "./AmazonFetch.ts"
import * as Event from "./formats/ProviderEvent.ts"
import * as SigningCertificate from "./SigningCertificate.ts"

/** Age of a notification beyond which it counts as replayed. Amazon repeats one for up to an hour. */
export const MAX_AGE_MS = 2 * 3_600_000

const FIELDS: Readonly<Record<string, ReadonlyArray<string>>> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
}
const ALGORITHMS: Readonly<Record<string, string>> = { "1": "RSA-SHA1", "2": "RSA-SHA256" }

/**
 * Checks a notification of Amazon SNS and returns the message in it. Confirms a subscription. Fails with the reason of a
 * refusal. `topic` is the topic that may call; empty allows any that knows the address.
 */
export const open = Effect.fn("SnsMessage.open")(function* (topic: string, body: unknown) {
  const fields = Event.fields(body)
  const type = whole(fields["Type"])
  const signed = Table.at(FIELDS, type)
  if (signed === undefined) return yield* Effect.fail("not_a_notification")
  const now = yield* Clock.currentTimeMillis
  const age = now - Date.parse(whole(fields["Timestamp"]))
  if (!(Math.abs(age) <= MAX_AGE_MS)) return yield* Effect.fail("signature_too_old")
  if (topic !== "" && whole(fields["TopicArn"]) !== topic) return yield* Effect.fail("topic_wrong")
  const algorithm = Table.at(ALGORITHMS, whole(fields["SignatureVersion"]))
  if (algorithm === undefined) return yield* Effect.fail("signature_missing")
  const key = yield* SigningCertificate.keyAt(whole(fields["SigningCertURL"]), now)
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
const parsed = (text: string): unknown => valueOr(() => JSON.parse(text), undefined)
