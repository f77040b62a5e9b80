import { valueOr } from "@waybill/runtime/flow/valueOr"
import * as Turn from "@waybill/runtime/flow/Turn"
import { unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import { Cause, Clock, Duration, Effect, Semaphore } from "effect"
import * as Validation from "../web/Validation.ts"
import * as Authenticity from "./Authenticity.ts"
import { findMessages } from "./findMessages.ts"
import type { Provider, ProviderEvent } from "./formats/ProviderEvent.ts"
import { type ReadCall, readCall } from "./formats/readCall.ts"
import type * as KnownHooks from "./KnownHooks.ts"
import { recordProviderEvent } from "./recordProviderEvent.ts"
import { CONCURRENCY, recordProviderEvents } from "./recordProviderEvents.ts"
import * as SnsMessage from "./SnsMessage.ts"

export interface Call {
  readonly provider: Provider
  readonly hook: KnownHooks.KnownHook
  readonly hooks: KnownHooks.KnownHooks
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Uint8Array
  /** Address of the client. */
  readonly address: string
}

/**
 * Checks a call, records its events and counts them. Fails with the reason of a refusal, after which nothing changed. If a database
 * does not answer, events of the others are recorded, and the call ends with `Unavailable`, so that the provider repeats it.
 */
export const receiveCall = Effect.fn("receiveCall")(function* (call: Call) {
  const { address, bytes, headers, hook, hooks, provider } = call
  const { id: hook_id, secret: text } = hook
  const now = yield* Clock.currentTimeMillis
  // Without a secret nothing would prove a call: the key of an HMAC would be empty. Amazon needs none.
  if (text === "" && provider !== "ses") return yield* Effect.fail("secret_missing")
  const read = yield* inTurn((): Read | string => {
    const isByHeader = provider !== "ses" && provider !== "mailgun"
    const reason = isByHeader ? Authenticity.BY_HEADER[provider](text, { headers, bytes, now }) : undefined
    if (reason !== undefined) return reason
    const body = parsed(bytes)
    if (body === undefined) return "body_malformed"
    if (provider === "ses") return { notification: body }
    if (provider !== "mailgun") return readCall(provider, body)
    const proof = Authenticity.ofMailgun(text, body, now)
    return typeof proof === "string" ? proof : { ...readCall(provider, body), proof }
  })
  if (typeof read === "string") return yield* Effect.fail(read)
  if ("proof" in read && read.proof !== undefined && !(yield* ProviderEvents.noteToken(hook_id, read.proof)))
    return yield* Effect.fail("token_used")
  const called = "notification" in read ? yield* ofAmazon(text, read.notification) : read
  if (called === undefined) return yield* hooks.count(hook, {})
  const { events, malformed } = called
  const isDue = hook.isDue()
  const kept = isDue ? yield* recordKept(hook_id, address) : []
  const { counts: outcomes, failure } = yield* recordProviderEvents(hook_id, events, address)
  const counts = { ...outcomes, malformed }
  for (const outcome of kept) counts[outcome]++
  const newest = Math.max(...events.map(({ at }) => at ?? 0), 0)
  yield* hooks.count(hook, { ...counts, newest_ms: newest === 0 ? null : Math.min(newest, now) }, isDue)
  if (malformed > 0 || counts.unmatched > 0)
    yield* Effect.logInfo("provider reported events that are malformed or about no known message", {
      provider,
      hook: hook_id,
      malformed,
      unmatched: counts.unmatched,
    })
  yield* failure
})

type Read = { readonly notification: unknown } | (ReadCall & { readonly proof?: Authenticity.MailgunProof })

/** Time limit of the search for them, longer than for the answer of a database. */
const KEPT_WITHIN = Duration.seconds(10)

/** Records kept events whose message is known by now. One that fails stays kept, and nothing here fails the call. */
const recordKept = (hook_id: string, address: string) =>
  Effect.catchCause(recordMatched(hook_id, address), (cause) => Effect.as(notNow(cause), []))

const recordMatched = Effect.fnUntraced(function* (hook_id: string, address: string) {
  const kept = yield* Effect.timeout(ProviderEvents.takeMatched(hook_id), KEPT_WITHIN)
  const recorded = yield* Effect.forEach(
    kept,
    ({ event, id }) =>
      Effect.gen(function* () {
        const read = JSON.parse(event) as ProviderEvent
        const message = (yield* findMessages([read]))(read)
        if (message === undefined || message === "unanswered") return []
        const outcome = yield* recordProviderEvent(hook_id, read, message, address)
        return outcome === "unmatched" ? [] : [{ id, outcome }]
      }).pipe(Effect.catchCause((cause) => Effect.as(notNow(cause), []))),
    { concurrency: CONCURRENCY },
  )
  const settled = recorded.flat()
  if (settled.length > 0)
    yield* ProviderEvents.settle(
      hook_id,
      settled.map(({ id }) => id),
    )
  return settled.map(({ outcome }) => outcome)
})

const notNow = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.failCause(cause as Cause.Cause<never>)
    : unlessAway(
        Effect.logWarning("kept events of a provider could not be recorded; they will be retried", cause),
        cause,
      )

/** Opens a notification of Amazon and reads its events; undefined if it has none. */
const ofAmazon = Effect.fnUntraced(function* (topic: string, notification: unknown) {
  const content = yield* SnsMessage.open(topic, notification)
  return content === undefined ? undefined : readCall("ses", content)
})

const turns = Semaphore.makeUnsafe(1)

/**
 * Reads a call in a turn of the event loop of its own. A call at its limit takes some ten milliseconds, and the bodies of
 * several often end in the same turn, in which everything else would wait for all of them.
 */
const inTurn = <A>(read: () => A): Effect.Effect<A> => turns.withPermit(Effect.andThen(Turn.next, Effect.sync(read)))

const parsed = (bytes: Uint8Array): unknown => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (Validation.problemOf(buffer) !== undefined) return undefined
  return valueOr(() => JSON.parse(buffer.toString("utf8")), undefined)
}
