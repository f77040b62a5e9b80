import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Aggregates from "@waybill/domain/stream/Aggregates"
import type { EmailQueued } from "@waybill/domain/email/EmailEvent"
import * as Team from "@waybill/domain/account/Team"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { AnyAggregate, AnyEvent } from "@waybill/store/log/RecordedEvents"
import { Effect, Result, Schema } from "effect"
import { readFileSync } from "node:fs"
import { id } from "../../support/history.ts"

const FOLDER = new URL("../../fixtures/events/", import.meta.url)
const LONGEST = 12

/** Texts that commonly break encodings between programs. */
const WORDS = [
  "",
  "plain",
  'say "hi"',
  "back\\slash \\n \\t \\N \\.",
  "line\nfeed\r\n\ttab",
  "{1,2}",
  "NULL",
  "Grüße, 東京 🚚 \u{1f469}\u200d\u{1f4bb}",
  "\u202eright to left",
  "e\u0301 and é",
  "\u0001\u001f\u007f\u0085\u2028\ufeff",
  "'; DROP TABLE events; --",
  "%_\\%",
  "word ".repeat(400),
]
/** Fields that may hold any text. */
const FREE: ReadonlySet<string> = new Set(
  "name subject response mx tls category enhanced_code user_agent feedback_type description message_id tags".split(" "),
)

/** Returns a generator of numbers from 0 to 1, determined by the seed. */
export const randomNumbers = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
export type RandomNumbers = ReturnType<typeof randomNumbers>

export const pick = <A>(list: ReadonlyArray<A>, roll: RandomNumbers): A => {
  const found = list[Math.floor(roll() * list.length)]
  if (found === undefined) throw new Error("nothing to pick from")
  return found
}

/** Varies the values that may be arbitrary. */
export const vary = (value: unknown, field: string, roll: RandomNumbers): unknown => {
  if (roll() < 0.2) return value
  if (Array.isArray(value)) return value.map((each) => vary(each, field, roll))
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, vary(each, key, roll)]))
  if (typeof value === "number") return Math.floor(roll() * 100_000)
  if (typeof value !== "string") return value
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return Timestamp.fromMillis(Math.floor(roll() * 2e12))
  return FREE.has(field) ? pick(WORDS, roll) : value
}

/** Decoders of the events of an aggregate, made once: making one takes far longer than decoding an event. */
const decoders = new Map<AnyAggregate, (data: unknown) => AnyEvent>()
const decoderOf = (aggregate: AnyAggregate) => {
  const decode = decoders.get(aggregate) ?? Schema.decodeUnknownSync(Schema.toCodecJson(aggregate.Event))
  decoders.set(aggregate, decode)
  return decode
}

const event = (aggregate: AnyAggregate, tag: string, roll: RandomNumbers): AnyEvent => {
  const decode = decoderOf(aggregate)
  const { data } = JSON.parse(readFileSync(new URL(`${tag}.v1.json`, FOLDER), "utf8"))
  try {
    return decode({ ...(vary(data, "", roll) as object), _tag: tag })
  } catch {
    return decode({ ...data, _tag: tag })
  }
}

/** Returns the first event of a stream, with the stream's ids. */
const firstEvent = (aggregate: AnyAggregate, account_id: string, roll: RandomNumbers): readonly [AnyEvent, string] => {
  const first = (tag: string, own: Readonly<Record<string, unknown>>, stream_id: string) =>
    [{ ...event(aggregate, tag, roll), ...own }, stream_id] as const
  const hex = Array.from({ length: 64 }, () => Math.floor(roll() * 16).toString(16)).join("")
  switch (aggregate.stream) {
    case "account":
      return first("AccountCreated", { account_id }, account_id)
    case "api_key": {
      const key_id = id("ApiKeyId")
      return first("KeyCreated", { key_id, hash: hex }, key_id)
    }
    case "domain": {
      const domain_id = id("DomainId")
      return first("DomainAdded", { domain_id }, domain_id)
    }
    case "email": {
      const email_id = id("EmailId")
      const metadata = { order: hex, plan: pick(["pro", "free"], roll), [hex.slice(0, 9)]: "", ["__proto__"]: "own" }
      return first("EmailQueued", { email_id, ...(roll() < 0.3 ? { metadata } : {}) }, email_id)
    }
    case "suppression": {
      const address = `${hex.slice(0, 8)}@example.org`
      return first("SuppressionAdded", { address, suppression_id: id("SuppressionId") }, address)
    }
    case "template": {
      const template_id = id("TemplateId")
      return first("TemplateCreated", { template_id }, template_id)
    }
    case "webhook": {
      const webhook_id = id("WebhookId")
      return first("WebhookCreated", { webhook_id }, webhook_id)
    }
    case "test_clock": {
      const clock_id = id("TestClockId")
      return first("TestClockCreated", { clock_id }, clock_id)
    }
    default:
      return [event(aggregate, pick(tagsOf(aggregate), roll), roll), Team.STREAM_ID]
  }
}

const tagsOf = (aggregate: AnyAggregate): ReadonlyArray<string> =>
  DomainEvent.TAGS.filter((tag) => Aggregates.streamOf(tag) === aggregate.stream)

/** Writes histories that no decider would write: all event types in any order, each history in several commits. */
export const write = Effect.fnUntraced(function* (seed: number, streams: number) {
  const { transact } = yield* EventStore
  const roll = randomNumbers(seed)
  let written = 0
  for (const aggregate of Object.values<unknown>(Aggregates.aggregates) as ReadonlyArray<AnyAggregate>) {
    const tags = tagsOf(aggregate)
    for (let nth = 0; nth < streams; nth++) {
      const account_id = id("AccountId")
      const [first, stream_id] = firstEvent(aggregate, account_id, roll)
      const rest = Array.from({ length: Math.floor(roll() * LONGEST) }, () =>
        aimAtRecipient(event(aggregate, pick(tags, roll), roll), first, roll),
      )
      // A user belongs to one account only.
      const user_id = id("UserId")
      const email = `${user_id}@example.org`
      const events = [first, ...rest].map((each) => ("user_id" in each ? { ...each, user_id, email } : each))
      const half = Math.ceil(events.length / 2)
      for (const part of [events.slice(0, half), events.slice(half)]) {
        if (part.length === 0) continue
        yield* Effect.orDie(
          transact({
            account_id,
            streams: [{ aggregate, id: stream_id }],
            decide: () => Result.succeed({ append: [{ aggregate, id: stream_id, events: part }], answer: null }),
          }),
        )
        written += part.length
      }
    }
  }
  return written
})

/** Aims most outcomes at a recipient of the message, because otherwise nothing would change. */
const aimAtRecipient = (event: AnyEvent, birth: AnyEvent, roll: RandomNumbers): AnyEvent => {
  if (birth._tag !== "EmailQueued" || !("recipient" in event) || roll() < 0.1) return event
  const { bcc, cc, to } = birth as EmailQueued
  return { ...event, recipient: pick([...to, ...cc, ...bcc], roll).address } as AnyEvent
}
