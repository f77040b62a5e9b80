import type { AccountId, EventId, WebhookDeliveryId } from "@waybill/domain/Id"
import { Clock, DateTime, type Deferred, Effect, Exit, Result } from "effect"
import type { Consequences } from "./Consequences.ts"
import {
  claimKey,
  type ContentRow,
  type Facts,
  type KeptAnswer,
  type LedgerError,
  type Page,
  refKey,
  type StreamRef,
  type Touched,
  TryAgain,
} from "./Ledger.ts"
import type { Provenance } from "./Provenance.ts"
import { type AnyAggregate, decode, encode, fold, type Recorded, type Shapes, type Stored } from "./Recorded.ts"
import { type Committed, IdempotencyKeyReused, LeaseLost, type Unit, type View } from "./Unit.ts"

/** An idempotency key is kept this long (contract §3). */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000

/** A unit on its way, with the fiber that waits for it. */
export interface Entry {
  readonly unit: Unit<unknown, unknown>
  readonly provenance: Provenance
  readonly done: Deferred.Deferred<Committed<unknown>, unknown>
}

/** What a flight asks of the domain: shapes of events, and what follows from them. */
export interface Rules {
  readonly shapes: Shapes
  readonly consequences: Consequences
  readonly nextEventId: (epochMillis: number) => EventId
  readonly nextDeliveryId: (epochMillis: number) => WebhookDeliveryId
}

type Verdict = Exit.Exit<Committed<unknown>, unknown>
export interface Attempt {
  readonly verdicts: ReadonlyMap<Entry, Verdict>
  /** Twins of a unit of this very flight: they fly again, and find its answer kept. */
  readonly postponed: ReadonlyArray<Entry>
  readonly events: ReadonlyArray<Stored>
}

/** One try at a flight inside one transaction: read all, decide each, write all. */
export const attempt = Effect.fnUntraced(function* (
  rules: Rules,
  page: Page,
  entries: ReadonlyArray<Entry>,
): Effect.fn.Return<Attempt, LedgerError> {
  const nowMillis = yield* Clock.currentTimeMillis
  const now = DateTime.formatIso(DateTime.makeUnsafe(nowMillis))
  const claims = entries.flatMap(({ unit }) => (unit.idempotency === undefined ? [] : [unit.idempotency]))
  const kept = claims.length === 0 ? new Map<string, KeptAnswer>() : yield* page.answers(claims, now)
  const histories = yield* loadHistories(rules.shapes, page, entries)
  const facts = yield* page.facts(
    entries.map(({ unit }) => ({
      account_id: unit.account_id,
      ...unit.needs,
      ...(unit.leases === undefined
        ? {}
        : { outbox: [...(unit.needs?.outbox ?? []), ...unit.leases.map((lease) => lease.id)] }),
    })),
  )

  const flight = decideAll(rules, entries, histories, facts, kept, now, nowMillis)
  if (flight.answers.length > 0) {
    const taken = yield* page.keep(flight.answers, now)
    // A twin in another transaction was first. What was decided here may have counted on the loser, so all of it is
    // decided again, and the loser finds the answer it lost to.
    if (taken.size > 0) return yield* new TryAgain({ cause: "an idempotency key was taken meanwhile" })
  }
  if (flight.events.length > 0) {
    const { arm, deliveries, disarm } = rules.consequences.work(flight.touched, facts, now, () => rules.nextDeliveryId(nowMillis))
    yield* page.write({
      touched: flight.touched,
      events: flight.events,
      content: flight.content,
      usage: [...flight.usage.values()].filter((entry) => entry.delta !== 0),
      outbox: { arm, disarm, release: flight.released },
      deliveries,
      now,
    })
  }
  return flight
})

const loadHistories = Effect.fnUntraced(function* (shapes: Shapes, page: Page, entries: ReadonlyArray<Entry>) {
  const wanted = new Map<string, StreamRef & { readonly aggregate: AnyAggregate }>()
  for (const { unit } of entries) {
    for (const { aggregate, fresh, id } of unit.streams) {
      if (fresh === true) continue
      const ref = { account_id: unit.account_id, stream_id: id, aggregate }
      wanted.set(refKey(ref), ref)
    }
  }
  const histories = new Map<string, ReadonlyArray<Recorded>>()
  if (wanted.size === 0) return histories
  const stored = yield* page.streams([...wanted.values()])
  for (const [key, ref] of wanted) {
    histories.set(
      key,
      (stored.get(key) ?? []).map((row) => decode(ref.aggregate, shapes, row)),
    )
  }
  return histories
})

interface Stream extends StreamRef {
  readonly aggregate: AnyAggregate
  readonly history: Array<Recorded>
  state: unknown
  added: number
}

interface Decided extends Attempt {
  readonly answers: ReadonlyArray<KeptAnswer>
  readonly touched: ReadonlyArray<Touched>
  readonly content: ReadonlyArray<ContentRow>
  readonly usage: ReadonlyMap<string, { readonly account_id: AccountId; readonly month: string; delta: number }>
  readonly released: ReadonlyArray<string>
}

const decideAll = (
  rules: Rules,
  entries: ReadonlyArray<Entry>,
  histories: ReadonlyMap<string, ReadonlyArray<Recorded>>,
  facts: Facts,
  kept: ReadonlyMap<string, KeptAnswer>,
  now: string,
  nowMillis: number,
): Decided => {
  const verdicts = new Map<Entry, Verdict>()
  const postponed: Array<Entry> = []
  const events: Array<Stored> = []
  const answers = new Map<string, KeptAnswer>()
  const streams = new Map<string, Stream>()
  const content: Array<ContentRow> = []
  const usage = new Map<string, { account_id: AccountId; month: string; delta: number }>()
  const released: Array<string> = []
  const expires_at = DateTime.formatIso(DateTime.makeUnsafe(nowMillis + IDEMPOTENCY_TTL_MS))

  const flightFacts: Facts = {
    ...facts,
    used: (account, month) => facts.used(account, month) + (usage.get(`${account} ${month}`)?.delta ?? 0),
  }
  const streamOf = (account_id: AccountId, aggregate: AnyAggregate, stream_id: string): Stream => {
    const key = refKey({ account_id, stream_id })
    const known = streams.get(key)
    if (known !== undefined) return known
    const history = [...(histories.get(key) ?? [])]
    const stream = { account_id, stream_id, aggregate, history, state: fold(aggregate, history), added: 0 }
    streams.set(key, stream)
    return stream
  }

  for (const entry of entries) {
    const { unit } = entry
    const claim = unit.idempotency
    const key = claim === undefined ? undefined : claimKey(claim)
    if (claim !== undefined && key !== undefined) {
      const earlier = kept.get(key)
      if (earlier !== undefined) {
        verdicts.set(entry, replay(claim.fingerprint, claim.key, earlier))
        continue
      }
      if (answers.has(key)) {
        postponed.push(entry)
        continue
      }
    }
    const stray = unit.leases?.find(({ id, token }) => facts.outbox(id)?.lease_token !== token)
    if (stray !== undefined) {
      verdicts.set(entry, Exit.fail(new LeaseLost({ id: stray.id })))
      continue
    }
    const view: View = {
      state: (aggregate, id) => streamOf(unit.account_id, aggregate, id).state as never,
      version: (id) => {
        const key = refKey({ account_id: unit.account_id, stream_id: id })
        return streams.get(key)?.history.length ?? histories.get(key)?.length ?? 0
      },
      facts: flightFacts,
      now,
    }
    try {
      const decided = unit.decide(view)
      if (Result.isFailure(decided)) {
        verdicts.set(entry, Exit.fail(decided.failure))
        continue
      }
      const { answer, append, content: blobs } = decided.success
      // Encoded before anything is entered, so that a fact that fits no schema harms its own unit alone.
      const bytes = claim?.encode(answer)
      const encoded = append.map(({ aggregate, events: facts }) => facts.map((event) => encode(aggregate, event)))
      const appended: Array<Stored> = []
      for (const [index, { aggregate, events: newEvents, id }] of append.entries()) {
        const stream = streamOf(unit.account_id, aggregate, id)
        for (const [nth, event] of newEvents.entries()) {
          const place = {
            // The log gives the position when the row is written; no fold may depend on it.
            position: 0n,
            event_id: rules.nextEventId(nowMillis),
            account_id: unit.account_id,
            stream_id: id,
            stream: aggregate.stream,
            version: stream.history.length + 1,
            meta: { ...entry.provenance, schema_version: rules.shapes.schemaVersion(event._tag) },
            recorded_at: now,
          }
          appended.push({ ...place, type: event._tag, data: encoded[index]?.[nth] ?? {} })
          stream.history.push({ ...place, event })
          stream.state = aggregate.evolve(stream.state, event)
          stream.added += 1
          for (const { delta, month } of rules.consequences.usage(event, stream.state)) {
            const counter = `${unit.account_id} ${month}`
            const entered = usage.get(counter) ?? { account_id: unit.account_id, month, delta: 0 }
            entered.delta += delta
            usage.set(counter, entered)
          }
        }
      }
      events.push(...appended)
      content.push(...(blobs ?? []))
      released.push(...(unit.leases ?? []).map((lease) => lease.id))
      if (claim !== undefined && key !== undefined && bytes !== undefined) {
        const { account_id, fingerprint, route } = claim
        answers.set(key, { account_id, route, key: claim.key, fingerprint, answer: bytes, expires_at })
      }
      verdicts.set(entry, Exit.succeed({ _tag: "Committed", answer, events: appended }))
    } catch (defect) {
      verdicts.set(entry, Exit.die(defect))
    }
  }
  const touched = [...streams.values()].filter((stream) => stream.added > 0)
  return { verdicts, postponed, events, answers: [...answers.values()], touched, content, usage, released }
}

const replay = (fingerprint: string, key: string, earlier: KeptAnswer): Verdict =>
  earlier.fingerprint === fingerprint
    ? Exit.succeed({ _tag: "Replayed", kept: earlier.answer })
    : Exit.fail(new IdempotencyKeyReused({ key }))
