import type * as Id from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import { newId } from "../streams/newId.ts"
import type { StreamState } from "../streams/StreamState.ts"
import type { Append, CommitDeps, Decision, PendingCommit, View } from "./Commit.ts"
import * as BatchParts from "./BatchParts.ts"
import { type BatchPart, BatchRows } from "../log/BatchPart.ts"
import * as DueWork from "../outbox/DueWork.ts"
import { streamKey, type StreamRef, type ChangedStream } from "../log/StreamRef.ts"
import * as RecordedEvents from "../log/RecordedEvents.ts"

/** Times that all rows of a batch share. */
export interface BatchTime {
  readonly now: Timestamp
  readonly nowMillis: number
  /** When the answers to the idempotency keys of the batch expire. */
  readonly expires_at: string
}

const changing = BatchParts.all.filter(([, part]) => part.factAfter !== undefined)
const ofEvents = BatchParts.all.filter(([, part]) => part.ofEvent !== undefined)
const following = BatchParts.all.filter(([, part]) => part.ofStream !== undefined)

interface Stream extends StreamRef {
  readonly aggregate: RecordedEvents.AnyAggregate
  version: number
  state: unknown
  readonly added: Array<RecordedEvents.Recorded>
}

/** Additions of one commit, before they are added to the batch. */
interface Added {
  readonly events: Array<RecordedEvents.Stored>
  readonly rows: Array<readonly [part: BatchPart, row: unknown]>
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
  readonly rows = new BatchRows()
  readonly #streams = new Map<string, Stream>()
  readonly #deps: CommitDeps
  readonly #loaded: ReadonlyMap<string, StreamState>
  readonly #facts: BatchParts.Facts
  /** The facts as the next decision sees them. */
  readonly #seen: BatchParts.Facts
  readonly #time: BatchTime

  constructor(deps: CommitDeps, loaded: ReadonlyMap<string, StreamState>, facts: BatchParts.Facts, time: BatchTime) {
    this.#deps = deps
    this.#loaded = loaded
    this.#time = time
    this.#facts = facts
    const seen = changing.map(([name, part]) => [
      name,
      part.factAfter?.(facts[name as keyof BatchParts.Facts], (key) => this.rows.at(part, key)),
    ])
    this.#seen = { ...facts, ...Object.fromEntries(seen) }
  }

  /** Streams to which events were added. */
  get changedStreams(): ReadonlyArray<ChangedStream> {
    return [...this.#streams.values()].filter((stream) => stream.added.length > 0)
  }

  /** Adds the rows that follow from the changed streams. */
  follow(changedStreams: ReadonlyArray<ChangedStream>): void {
    const { now, nowMillis } = this.#time
    for (const [name, part] of following) {
      const batch = { fact: this.#facts[name as keyof BatchParts.Facts], now, nowMillis, rows: this.rows }
      for (const stream of changedStreams) part.ofStream?.(stream, batch)
    }
  }

  view(account_id: Id.AccountId): View {
    return {
      // A stream has the states of its aggregate.
      state: (aggregate, id) => this.#stream(account_id, aggregate, id).state as never,
      version: (id) => {
        const key = streamKey({ account_id, stream_id: id })
        return (this.#streams.get(key) ?? this.#loaded.get(key))?.version ?? 0
      },
      facts: this.#seen,
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
  add(pending: PendingCommit, decision: Decision<unknown>): void {
    const { idempotency, leases } = pending.commit
    const answer = idempotency?.encode(decision.answer)
    const continuations = new Map<string, Continuation>()
    const added: Added = { events: [], rows: [] }
    for (const append of decision.append) this.#continue(pending, append, continuations, added)

    for (const { recorded, state, stream } of continuations.values()) {
      stream.added.push(...recorded)
      stream.state = state
      stream.version += recorded.length
    }
    this.events.push(...added.events)
    for (const [part, row] of added.rows) this.rows.add(part, row)
    for (const [part, rows] of decision.rows ?? []) for (const row of rows) this.rows.add(part, row)
    for (const { id } of leases ?? []) this.rows.add(DueWork.part, { release: id })
    if (idempotency !== undefined && answer !== undefined) {
      const { account_id, fingerprint, key, route } = idempotency
      const { expires_at } = this.#time
      this.rows.add(StoredAnswers.part, { account_id, route, key, fingerprint, answer, expires_at })
    }
  }

  #continue(
    { commit: { account_id }, provenance }: PendingCommit,
    { aggregate, events, id }: Append,
    continuations: Map<string, Continuation>,
    { events: stored, rows }: Added,
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
      stored.push({ ...envelope, type: event._tag, data: RecordedEvents.encode(aggregate, event) })
      continuation.recorded.push({ ...envelope, event })
      const before = continuation.state
      continuation.state = aggregate.evolve(before, event)
      for (const [, part] of ofEvents)
        for (const row of part.ofEvent?.(account_id, event, before, continuation.state) ?? []) rows.push([part, row])
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
