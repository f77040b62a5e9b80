import type { AccountId } from "@waybill/domain/values/Id"
import type { Entry, Rules } from "./CommitBatch.ts"
import type { Folded } from "../streams/StreamState.ts"
import { type ContentRow, type Facts, type KeptAnswer, refKey, type StreamRef, type Touched } from "./LogStorage.ts"
import { type AnyAggregate, type AnyEvent, encode, type Recorded, type Stored } from "./RecordedEvents.ts"
import type { Append, Decision, View } from "./Commit.ts"

/** An idempotency key is kept this long (contract §3). */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000

/** When a flight is decided, as each of its rows says it. */
export interface Moment {
  readonly now: string
  readonly nowMillis: number
  /** Until when the answers to idempotency keys are kept. */
  readonly expires_at: string
}

interface Stream extends StreamRef {
  readonly aggregate: AnyAggregate
  version: number
  state: unknown
  readonly added: Array<Recorded>
}

interface Usage {
  readonly account_id: AccountId
  readonly month: string
  delta: number
}

/** What one unit does to one stream, before it is entered. */
interface Continuation {
  readonly stream: Stream
  readonly recorded: Array<Recorded>
  state: unknown
}

/**
 * What a flight carries: every stream as the units before left it, and all that is to be written. A unit is entered
 * whole or not at all, also when a fold throws on its third event: the others travel on.
 */
export class Manifest {
  readonly events: Array<Stored> = []
  readonly content: Array<ContentRow> = []
  readonly released: Array<string> = []
  readonly answers = new Map<string, KeptAnswer>()
  readonly #streams = new Map<string, Stream>()
  readonly #usage = new Map<string, Usage>()
  readonly #rules: Rules
  readonly #loaded: ReadonlyMap<string, Folded>
  readonly #facts: Facts
  readonly #moment: Moment

  constructor(rules: Rules, loaded: ReadonlyMap<string, Folded>, facts: Facts, moment: Moment) {
    this.#rules = rules
    this.#loaded = loaded
    this.#moment = moment
    this.#facts = {
      ...facts,
      used: (account, month) => facts.used(account, month) + (this.#usage.get(`${account} ${month}`)?.delta ?? 0),
    }
  }

  get touched(): ReadonlyArray<Touched> {
    return [...this.#streams.values()].filter((stream) => stream.added.length > 0)
  }

  get usage(): ReadonlyArray<Usage> {
    return [...this.#usage.values()].filter((entry) => entry.delta !== 0)
  }

  view(account_id: AccountId): View {
    return {
      state: (aggregate, id) => this.#stream(account_id, aggregate, id).state as never,
      version: (id) => {
        const key = refKey({ account_id, stream_id: id })
        return (this.#streams.get(key) ?? this.#loaded.get(key))?.version ?? 0
      },
      facts: this.#facts,
      now: this.#moment.now,
    }
  }

  /** Answers with the rows of the unit's events. Whatever can throw does so before anything is entered. */
  enter(entry: Entry, decision: Decision<unknown>, claim: string | undefined): ReadonlyArray<Stored> {
    const { idempotency, leases } = entry.unit
    const answer = idempotency?.encode(decision.answer)
    const continuations = new Map<string, Continuation>()
    const rows: Array<Stored> = []
    const used: Array<Usage> = []
    for (const append of decision.append) this.#continue(entry, append, continuations, rows, used)

    for (const { recorded, state, stream } of continuations.values()) {
      stream.added.push(...recorded)
      stream.state = state
      stream.version += recorded.length
    }
    this.events.push(...rows)
    this.#count(used)
    this.content.push(...(decision.content ?? []))
    for (const { id } of leases ?? []) this.released.push(id)
    if (idempotency !== undefined && claim !== undefined && answer !== undefined) {
      const { account_id, fingerprint, key, route } = idempotency
      const { expires_at } = this.#moment
      this.answers.set(claim, { account_id, route, key, fingerprint, answer, expires_at })
    }
    return rows
  }

  #continue(
    { provenance, unit: { account_id } }: Entry,
    { aggregate, events, id }: Append,
    continuations: Map<string, Continuation>,
    rows: Array<Stored>,
    used: Array<Usage>,
  ): void {
    const { now, nowMillis } = this.#moment
    const stream = this.#stream(account_id, aggregate, id)
    const continuation = continuations.get(id) ?? { stream, recorded: [], state: stream.state }
    continuations.set(id, continuation)
    for (const event of events) {
      const place = {
        // The log gives the position when the row is written; no fold may depend on it.
        position: 0n,
        event_id: this.#rules.nextEventId(nowMillis),
        account_id,
        stream_id: id,
        stream: aggregate.stream,
        version: stream.version + continuation.recorded.length + 1,
        meta: { ...provenance, schema_version: this.#rules.shapes.schemaVersion(event._tag) },
        recorded_at: now,
      }
      rows.push({ ...place, type: event._tag, data: encode(aggregate, event) })
      continuation.recorded.push({ ...place, event })
      continuation.state = aggregate.evolve(continuation.state, event)
      used.push(...this.#usageOf(account_id, event, continuation.state))
    }
  }

  #usageOf(account_id: AccountId, event: AnyEvent, state: unknown): ReadonlyArray<Usage> {
    return this.#rules.consequences.usage(event, state).map(({ delta, month }) => ({ account_id, month, delta }))
  }

  #count(used: ReadonlyArray<Usage>): void {
    for (const { account_id, delta, month } of used) {
      const key = `${account_id} ${month}`
      const entered = this.#usage.get(key) ?? { account_id, month, delta: 0 }
      entered.delta += delta
      this.#usage.set(key, entered)
    }
  }

  #stream(account_id: AccountId, aggregate: AnyAggregate, stream_id: string): Stream {
    const key = refKey({ account_id, stream_id })
    const known = this.#streams.get(key)
    if (known !== undefined) return known
    const { state, version } = this.#loaded.get(key) ?? { state: aggregate.initial, version: 0 }
    const stream = { account_id, stream_id, aggregate, version, state, added: [] }
    this.#streams.set(key, stream)
    return stream
  }
}
