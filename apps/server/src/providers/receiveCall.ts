import * as Turn from "@waybill/runtime/flow/Turn"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Cause, Clock, Effect, Option, Semaphore } from "effect"
import * as Validation from "../web/Validation.ts"
import * as Authenticity from "./Authenticity.ts"
import * as HookAddress from "./HookAddress.ts"
import { findMessages } from "./findMessages.ts"
import type { Provider, ProviderEvent } from "./formats/ProviderEvent.ts"
import { type ReadCall, readCall } from "./formats/readCall.ts"
import { recordProviderEvent } from "./recordProviderEvent.ts"
import { CONCURRENCY, recordProviderEvents } from "./recordProviderEvents.ts"
import * as SnsMessage from "./SnsMessage.ts"

export interface Call {
  readonly provider: Provider
  readonly hook_id: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Uint8Array
  /** Address of the client. */
  readonly address: string
}

/**
 * Checks a call, records its events and counts them. Fails with the reason of a refusal, after which nothing changed. If a cell
 * does not answer, events of the others are recorded, and the call ends with `Unavailable`, so that the provider repeats it.
 */
export const receiveCall = Effect.fn("receiveCall")(function* ({ address, bytes, headers, hook_id, provider }: Call) {
  const secret = yield* (yield* Secrets).open(HookAddress.secretRef(hook_id))
  const text = Option.match(secret, { onNone: () => "", onSome: (sealed) => Buffer.from(sealed).toString("utf8") })
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
  if (called === undefined) return yield* ProviderHooks.count(hook_id, NOTHING, null)
  const { events, malformed } = called
  const kept = yield* recordKept(hook_id, address)
  const { counts: outcomes, failure } = yield* recordProviderEvents(hook_id, events, address)
  const counts = { ...outcomes, malformed }
  for (const outcome of kept) counts[outcome]++
  const newest = Math.max(...events.map(({ at }) => at ?? 0), 0)
  yield* ProviderHooks.count(hook_id, counts, newest === 0 ? null : Math.min(newest, now))
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

const NOTHING: ProviderHooks.Counts = { recorded: 0, unchanged: 0, unmatched: 0, malformed: 0 }

/** Records kept events whose message is known by now. One that fails stays kept and does not fail the call. */
const recordKept = Effect.fnUntraced(function* (hook_id: string, address: string) {
  const kept = yield* ProviderEvents.takeMatched(hook_id)
  const recorded = yield* Effect.forEach(
    kept,
    ({ event, id }) =>
      Effect.gen(function* () {
        const read = JSON.parse(event) as ProviderEvent
        const message = (yield* findMessages([read]))(read)
        if (message === undefined || message === "unanswered") return []
        const outcome = yield* recordProviderEvent(hook_id, read, message, address)
        return outcome === "unmatched" ? [] : [{ id, outcome }]
      }).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.as(
                Effect.logWarning("kept event of a provider could not be recorded; it will be retried", cause),
                [],
              ),
        ),
      ),
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
  try {
    return JSON.parse(buffer.toString("utf8"))
  } catch {
    return undefined
  }
}
