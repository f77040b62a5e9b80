import type { EventId, WebhookDeliveryId } from "@waybill/domain/Id"
import { Clock, DateTime, Effect, Exit, Result } from "effect"
import type { Consequences } from "./Consequences.ts"
import {
  type Claim,
  claimKey,
  type Facts,
  type KeptAnswer,
  type LedgerError,
  type Page,
  refKey,
  type StreamRef,
  TryAgain,
} from "./Ledger.ts"
import { IDEMPOTENCY_TTL_MS, Manifest } from "./Manifest.ts"
import type { Provenance } from "./Provenance.ts"
import { type AnyAggregate, decode, type Recorded, type Shapes, type Stored } from "./Recorded.ts"
import { type Committed, IdempotencyKeyReused, LeaseLost, type Unit } from "./Unit.ts"

/** A unit on its way, and whom to tell of its end. */
export interface Entry {
  readonly unit: Unit<unknown, unknown>
  readonly provenance: Provenance
  /** When the caller began to wait. */
  readonly since: number
  readonly done: (verdict: Verdict) => void
}

export type Verdict = Exit.Exit<Committed<unknown>, unknown>

/** What a flight asks of the domain: shapes of events, and what follows from them. */
export interface Rules {
  readonly shapes: Shapes
  readonly consequences: Consequences
  readonly nextEventId: (epochMillis: number) => EventId
  readonly nextDeliveryId: (epochMillis: number) => WebhookDeliveryId
}

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
  const needs = entries.map(({ unit }) => ({
    account_id: unit.account_id,
    ...unit.needs,
    ...(unit.leases === undefined
      ? {}
      : { outbox: [...(unit.needs?.outbox ?? []), ...unit.leases.map((lease) => lease.id)] }),
  }))
  // Asked together, in this order, and waited for once.
  const [kept, histories, facts] = yield* Effect.all(
    [
      claims.length === 0 ? Effect.succeed(new Map<string, KeptAnswer>()) : page.answers(claims, now),
      loadHistories(rules.shapes, page, entries),
      page.facts(needs, now),
    ],
    { concurrency: "unbounded" },
  )

  const expires_at = DateTime.formatIso(DateTime.makeUnsafe(nowMillis + IDEMPOTENCY_TTL_MS))
  const manifest = new Manifest(rules, histories, facts, { now, nowMillis, expires_at })
  const { postponed, verdicts } = decideAll(manifest, entries, facts, kept)
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
  return { verdicts, postponed, events }
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

const decideAll = (
  manifest: Manifest,
  entries: ReadonlyArray<Entry>,
  facts: Facts,
  kept: ReadonlyMap<string, KeptAnswer>,
) => {
  const verdicts = new Map<Entry, Verdict>()
  const postponed: Array<Entry> = []
  for (const entry of entries) {
    const { idempotency, leases } = entry.unit
    const claim = idempotency === undefined ? undefined : claimKey(idempotency)
    const earlier = claim === undefined ? undefined : kept.get(claim)
    const stray = leases?.find(({ id, token }) => facts.outbox(id)?.lease_token !== token)
    if (idempotency !== undefined && earlier !== undefined) verdicts.set(entry, replay(idempotency, earlier))
    else if (claim !== undefined && manifest.answers.has(claim)) postponed.push(entry)
    else if (stray !== undefined) verdicts.set(entry, Exit.fail(new LeaseLost({ id: stray.id })))
    else verdicts.set(entry, decide(manifest, entry, claim))
  }
  return { verdicts, postponed }
}

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
