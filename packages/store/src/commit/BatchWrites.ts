import type * as Id from "@waybill/domain/values/Id"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { StoredAnswer } from "../idempotency/IdempotencyRef.ts"
import { newId } from "../streams/newId.ts"
import type { StreamState } from "../streams/StreamState.ts"
import * as Consequences from "./Consequences.ts"
import type { Append, CommitDeps, Decision, PendingCommit, View } from "./Commit.ts"
import type { Facts } from "../facts/Facts.ts"
import { UnsentChanges, type UnsentChange } from "../facts/UnsentChanges.ts"
import type { InboundRow } from "../content/InboundContent.ts"
import type { ContentRow } from "../content/StoredContent.ts"
import { streamKey, type StreamRef, type ChangedStream } from "../log/StreamRef.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"

/** Times that all rows of a batch share. */
export interface BatchTime {
  readonly now: string
  readonly nowMillis: number
  /** When the answers to the idempotency keys of the batch expire. */
  readonly expires_at: string
}

interface Stream extends StreamRef {
  readonly aggregate: RecordedEvents.AnyAggregate
  version: number
  state: unknown
  readonly added: Array<RecordedEvents.Recorded>
}

interface Usage {
  readonly account_id: Id.AccountId
  readonly month: string
  delta: number
}

/** Additions of one commit, before they are added to the batch. */
interface Added {
  readonly rows: Array<RecordedEvents.Stored>
  readonly usage: Array<Usage>
  readonly unsent: Array<UnsentChange>
}

/** Events of one commit for one stream, before they are added to the batch. */
interface Continuation {
  readonly stream: Stream
  readonly recorded: Array<RecordedEvents.Recorded>
  state: unknown
}

/**
 * Everything that a batch is going to write, and the streams as its commits so far leave them. A commit is added as a
 * whole or not at all, also when a fold throws on its third event, so the other commits of the batch are not affected.
 */
export class BatchWrites {
  readonly events: Array<RecordedEvents.Stored> = []
  readonly content: Array<ContentRow> = []
  readonly inbound: Array<InboundRow> = []
  /** Ids of outbox rows whose lease ends. */
  readonly released: Array<string> = []
  /** Answers to store, by `answerKey`. */
  readonly answers = new Map<string, StoredAnswer>()
  readonly #streams = new Map<string, Stream>()
  readonly #usage = new Map<string, Usage>()
  readonly #unsent = new UnsentChanges()
  readonly #deps: CommitDeps
  readonly #loaded: ReadonlyMap<string, StreamState>
  readonly #facts: Facts
  readonly #time: BatchTime

  constructor(deps: CommitDeps, loaded: ReadonlyMap<string, StreamState>, facts: Facts, time: BatchTime) {
    this.#deps = deps
    this.#loaded = loaded
    this.#time = time
    this.#facts = {
      ...facts,
      acceptedIn: (account, month) =>
        facts.acceptedIn(account, month) + (this.#usage.get(`${account} ${month}`)?.delta ?? 0),
      unsent: (account, month) => this.#unsent.addedTo(facts.unsent(account, month), account, month),
    }
  }

  /** Streams to which events were added. */
  get changedStreams(): ReadonlyArray<ChangedStream> {
    return [...this.#streams.values()].filter((stream) => stream.added.length > 0)
  }

  /** Changes of the accounts' monthly usage. */
  get usage(): ReadonlyArray<Usage> {
    return [...this.#usage.values()].filter(({ delta }) => delta !== 0)
  }

  /** Changes of the content stored for unsent mail. */
  get unsent(): ReadonlyArray<UnsentChange> {
    return this.#unsent.all
  }

  view(account_id: Id.AccountId): View {
    return {
      // A stream has the states of its aggregate.
      state: (aggregate, id) => this.#stream(account_id, aggregate, id).state as never,
      version: (id) => {
        const key = streamKey({ account_id, stream_id: id })
        return (this.#streams.get(key) ?? this.#loaded.get(key))?.version ?? 0
      },
      facts: this.#facts,
      now: this.#time.now,
    }
  }

  /** Whether all nodes can read the events of a decision. */
  isReadable({ append }: Decision<unknown>): boolean {
    return append.every(({ events }) =>
      events.every(({ _tag }) => this.#deps.kinds.isOpen(DomainEvent.eventKind(_tag))),
    )
  }

  /** Adds a decided commit. Everything that can throw runs before the first change. */
  add(pending: PendingCommit, decision: Decision<unknown>, answerKey: string | undefined): void {
    const { idempotency, leases } = pending.commit
    const answer = idempotency?.encode(decision.answer)
    const continuations = new Map<string, Continuation>()
    const rows: Array<RecordedEvents.Stored> = []
    const usage: Array<Usage> = []
    const unsent: Array<UnsentChange> = []
    for (const append of decision.append) this.#continue(pending, append, continuations, { rows, usage, unsent })

    for (const { recorded, state, stream } of continuations.values()) {
      stream.added.push(...recorded)
      stream.state = state
      stream.version += recorded.length
    }
    this.events.push(...rows)
    this.#addUsage(usage)
    for (const change of unsent) this.#unsent.add(change)
    this.content.push(...(decision.content ?? []))
    this.inbound.push(...(decision.inbound ?? []))
    for (const { id } of leases ?? []) this.released.push(id)
    if (idempotency !== undefined && answerKey !== undefined && answer !== undefined) {
      const { account_id, fingerprint, key, route } = idempotency
      const { expires_at } = this.#time
      this.answers.set(answerKey, { account_id, route, key, fingerprint, answer, expires_at })
    }
  }

  #continue(
    { commit: { account_id }, provenance }: PendingCommit,
    { aggregate, events, id }: Append,
    continuations: Map<string, Continuation>,
    { rows, unsent, usage }: Added,
  ): void {
    const { now, nowMillis } = this.#time
    const stream = this.#stream(account_id, aggregate, id)
    const continuation = continuations.get(id) ?? { stream, recorded: [], state: stream.state }
    continuations.set(id, continuation)
    for (const event of events) {
      const envelope = {
        // Postgres assigns the position when it writes the row, so no fold may depend on it.
        position: 0n,
        event_id: newId("EventId", nowMillis),
        account_id,
        stream_id: id,
        stream: aggregate.stream,
        version: stream.version + continuation.recorded.length + 1,
        meta: { ...provenance, schema_version: DomainEvent.schemaVersion(event._tag) },
        recorded_at: now,
      }
      rows.push({ ...envelope, type: event._tag, data: RecordedEvents.encode(aggregate, event) })
      continuation.recorded.push({ ...envelope, event })
      const before = continuation.state
      continuation.state = aggregate.evolve(before, event)
      usage.push(...this.#usageOf(account_id, event, continuation.state))
      const change = Consequences.unsent(event, before, continuation.state)
      if (change !== undefined) unsent.push({ account_id, ...change })
    }
  }

  #usageOf(account_id: Id.AccountId, event: RecordedEvents.AnyEvent, state: unknown): ReadonlyArray<Usage> {
    return Consequences.usage(event, state).map(({ delta, month }) => ({ account_id, month, delta }))
  }

  #addUsage(usage: ReadonlyArray<Usage>): void {
    for (const { account_id, delta, month } of usage) {
      const key = `${account_id} ${month}`
      const total = this.#usage.get(key) ?? { account_id, month, delta: 0 }
      total.delta += delta
      this.#usage.set(key, total)
    }
  }

  #stream(account_id: Id.AccountId, aggregate: RecordedEvents.AnyAggregate, stream_id: string): Stream {
    const key = streamKey({ account_id, stream_id })
    const existing = this.#streams.get(key)
    if (existing !== undefined) return existing
    const { state, version } = this.#loaded.get(key) ?? { state: aggregate.initial, version: 0 }
    const stream = { account_id, stream_id, aggregate, version, state, added: [] }
    this.#streams.set(key, stream)
    return stream
  }
}
