import type { EventId, WebhookDeliveryId } from "@waybill/domain/values/Id"
import { Clock, DateTime, Effect, Exit, Result } from "effect"
import type { Consequences } from "./Consequences.ts"
import * as StreamState from "../streams/StreamState.ts"
import type { KeptStates } from "../streams/StreamStateCache.ts"
import {
  type Claim,
  claimKey,
  type Facts,
  type KeptAnswer,
  type LedgerError,
  type Page,
  refKey,
  type Stretch,
  TryAgain,
} from "./LogStorage.ts"
import type { Wanted } from "../streams/LongStreams.ts"
import { IDEMPOTENCY_TTL_MS, Manifest } from "./BatchWrites.ts"
import type { Provenance } from "./Provenance.ts"
import type { Shapes, Stored } from "./RecordedEvents.ts"
import { type Committed, IdempotencyKeyReused, LeaseLost, type Unit } from "./Commit.ts"

/** Who was put aside so often, each time for a stream that has grown too long again, has it read in a flight. */
export const MAX_TIMES_ASIDE = 3

/** A unit on its way, and whom to tell of its end. */
export interface Entry {
  readonly unit: Unit<unknown, unknown>
  readonly provenance: Provenance
  /** When the caller began to wait. */
  readonly since: number
  readonly done: (verdict: Verdict) => void
  /** How often it was put aside, and what was read for it meanwhile. */
  readonly aside?: number
  readonly known?: ReadonlyMap<string, StreamState.Folded>
}

export type Verdict = Exit.Exit<Committed<unknown>, unknown>

/** What a flight asks of the domain: shapes of events, and what follows from them. */
export interface Rules {
  readonly shapes: Shapes
  readonly consequences: Consequences
  readonly kept: KeptStates
  readonly nextEventId: (epochMillis: number) => EventId
  readonly nextDeliveryId: (epochMillis: number) => WebhookDeliveryId
}

export interface Attempt {
  readonly verdicts: ReadonlyMap<Entry, Verdict>
  /** Twins of a unit of this very flight: they fly again, and find its answer kept. */
  readonly postponed: ReadonlyArray<Entry>
  /** With what they wait for: streams that are too long to be read while everybody waits. They come again. */
  readonly aside: ReadonlyArray<{ readonly entry: Entry; readonly streams: ReadonlyArray<Wanted> }>
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
  const needs = entries.map(({ unit }) => ({
    account_id: unit.account_id,
    ...unit.needs,
    ...(unit.leases === undefined
      ? {}
      : { outbox: [...(unit.needs?.outbox ?? []), ...unit.leases.map((lease) => lease.id)] }),
  }))
  // Asked together, in this order, and waited for once.
  const [kept, { long, streams }, facts] = yield* Effect.all(
    [
      claims.length === 0 ? Effect.succeed(new Map<string, KeptAnswer>()) : page.answers(claims, now),
      loadStreams(rules, page, entries),
      page.facts(needs, now),
    ],
    { concurrency: "unbounded" },
  )

  const expires_at = DateTime.formatIso(DateTime.makeUnsafe(nowMillis + IDEMPOTENCY_TTL_MS))
  const manifest = new Manifest(rules, streams, facts, { now, nowMillis, expires_at })
  const { aside, postponed, verdicts } = decideAll(manifest, entries, facts, kept, long)
  if (manifest.answers.size > 0) {
    const taken = yield* page.keep([...manifest.answers.values()], now)
    // A twin in another transaction was first. What was decided here may have counted on the loser, so all of it is
    // decided again, and the loser finds the answer it lost to.
    if (taken.size > 0) return yield* new TryAgain({ cause: "an idempotency key was taken meanwhile" })
  }
  const { content, events, released, touched, usage } = manifest
  if (events.length > 0) {
    const work = rules.consequences.work(touched, facts, now, () => rules.nextDeliveryId(nowMillis))
    yield* page.write({
      touched,
      events,
      content,
      usage,
      outbox: { arm: work.arm, disarm: work.disarm, release: released },
      deliveries: work.deliveries,
      now,
    })
  }
  return { verdicts, postponed, aside, events }
})

interface Asked extends Wanted {
  readonly known: StreamState.Folded
  readonly isWhole: boolean
}

const loadStreams = Effect.fnUntraced(function* (
  { kept, shapes }: Rules,
  page: Page,
  entries: ReadonlyArray<Entry>,
): Effect.fn.Return<Loaded, LedgerError> {
  const streams = new Map<string, StreamState.Folded>()
  const long = new Set<string>()
  let asked = wanted(kept, entries)
  while (asked.size > 0) {
    const found = yield* page.streams([...asked.values()].map((each) => stretch(kept, each)))
    const anew = new Map<string, Asked>()
    for (const [key, each] of asked) {
      const rows = found.get(key) ?? []
      if (!StreamState.goesOn(each.known, rows)) {
        kept.forget(key)
        anew.set(key, { ...each, known: StreamState.unread(each.aggregate) })
      } else if (rows.length > kept.history && !each.isWhole) long.add(key)
      else {
        const folded = StreamState.follow(shapes, each.known, rows)
        streams.set(key, folded)
        if (each.known.version > 0) kept.goOn(key, folded, rows)
      }
    }
    asked = anew
  }
  return { streams, long }
})

interface Loaded {
  readonly streams: ReadonlyMap<string, StreamState.Folded>
  /** Of which there is more than a flight reads. */
  readonly long: ReadonlySet<string>
}

const wanted = (kept: KeptStates, entries: ReadonlyArray<Entry>): Map<string, Asked> => {
  const asked = new Map<string, Asked>()
  for (const { aside = 0, known, unit } of entries) {
    for (const { aggregate, fresh, id } of unit.streams) {
      if (fresh === true) continue
      const ref = { account_id: unit.account_id, stream_id: id }
      const key = refKey(ref)
      const other = asked.get(key)
      asked.set(key, {
        ...ref,
        aggregate,
        known: known?.get(key) ?? other?.known ?? kept.find(key, aggregate) ?? StreamState.unread(aggregate),
        isWhole: aside >= MAX_TIMES_ASIDE || other?.isWhole === true,
      })
    }
  }
  return asked
}

/** One event more than is folded, to see whether there are more. */
const stretch = ({ history }: KeptStates, { account_id, isWhole, known, stream_id }: Asked): Stretch => {
  const from = StreamState.from(known)
  return { account_id, stream_id, from, ...(isWhole ? {} : { to: from + history }) }
}

const decideAll = (
  manifest: Manifest,
  entries: ReadonlyArray<Entry>,
  facts: Facts,
  kept: ReadonlyMap<string, KeptAnswer>,
  long: ReadonlySet<string>,
) => {
  const verdicts = new Map<Entry, Verdict>()
  const postponed: Array<Entry> = []
  const aside: Array<Attempt["aside"][number]> = []
  for (const entry of entries) {
    const { idempotency, leases } = entry.unit
    const claim = idempotency === undefined ? undefined : claimKey(idempotency)
    const earlier = claim === undefined ? undefined : kept.get(claim)
    const stray = leases?.find(({ id, token }) => facts.outbox(id)?.lease_token !== token)
    if (idempotency !== undefined && earlier !== undefined) verdicts.set(entry, replay(idempotency, earlier))
    else if (claim !== undefined && manifest.answers.has(claim)) postponed.push(entry)
    else if (stray !== undefined) verdicts.set(entry, Exit.fail(new LeaseLost({ id: stray.id })))
    else {
      const streams = long.size === 0 ? [] : longOf(entry, long)
      if (streams.length > 0) aside.push({ entry, streams })
      else verdicts.set(entry, decide(manifest, entry, claim))
    }
  }
  return { verdicts, postponed, aside }
}

const longOf = ({ unit }: Entry, long: ReadonlySet<string>): ReadonlyArray<Wanted> =>
  unit.streams.flatMap(({ aggregate, fresh, id }) => {
    const ref = { account_id: unit.account_id, stream_id: id }
    return fresh !== true && long.has(refKey(ref)) ? [{ ...ref, aggregate }] : []
  })

/** A decision or a fold that throws harms nobody but its own caller. */
const decide = (manifest: Manifest, entry: Entry, claim: string | undefined): Verdict => {
  try {
    const decided = entry.unit.decide(manifest.view(entry.unit.account_id))
    if (Result.isFailure(decided)) return Exit.fail(decided.failure)
    const events = manifest.enter(entry, decided.success, claim)
    return Exit.succeed({ _tag: "Committed", answer: decided.success.answer, events })
  } catch (defect) {
    return Exit.die(defect)
  }
}

const replay = ({ fingerprint, key }: Claim, earlier: KeptAnswer): Verdict =>
  earlier.fingerprint === fingerprint
    ? Exit.succeed({ _tag: "Replayed", kept: earlier.answer })
    : Exit.fail(new IdempotencyKeyReused({ key }))
