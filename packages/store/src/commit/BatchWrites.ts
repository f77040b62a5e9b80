import * as Email from "@waybill/domain/email/Email"
import type * as Id from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as StoredAnswers from "../idempotency/StoredAnswers.ts"
import { newId } from "../streams/newId.ts"
import type { StreamState } from "../streams/StreamState.ts"
import type { Append, CommitDeps, Decision, PendingCommit, View } from "./Commit.ts"
import * as Facts from "./Facts.ts"
import * as BatchTables from "./BatchTables.ts"
import { type AddRows, BatchRows, rowsOf } from "../log/BatchTable.ts"
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

const ofEmails = BatchTables.all.filter(({ ofEmail }) => ofEmail !== undefined)
const ofStreams = BatchTables.all.filter(({ ofStream }) => ofStream !== undefined)

interface Stream extends StreamRef {
  readonly aggregate: RecordedEvents.AnyAggregate
  version: number
  state: unknown
  readonly added: Array<RecordedEvents.Recorded>
}

/** Additions of one commit, before they are added to the batch. */
interface Added {
  readonly events: Array<RecordedEvents.Stored>
  readonly rows: Array<AddRows>
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
  readonly #facts: Facts.Facts
  /** The facts as the next decision sees them. */
  readonly #seen: Facts.Facts
  readonly #time: BatchTime

  constructor(deps: CommitDeps, loaded: ReadonlyMap<string, StreamState>, facts: Facts.Facts, time: BatchTime) {
    this.#deps = deps
    this.#loaded = loaded
    this.#time = time
    this.#facts = facts
    this.#seen = Facts.withRows(facts, this.rows)
  }

  /** Streams to which events were added. */
  get changedStreams(): ReadonlyArray<ChangedStream> {
    return [...this.#streams.values()].filter((stream) => stream.added.length > 0)
  }

  /** Adds the rows that follow from the changed streams. */
  follow(changedStreams: ReadonlyArray<ChangedStream>): void {
    const { now, nowMillis } = this.#time
    const batch = { facts: this.#facts, now, nowMillis, rows: this.rows }
    for (const table of ofStreams) for (const stream of changedStreams) table.ofStream?.(stream, batch)
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
    for (const add of added.rows) add(this.rows)
    for (const add of decision.rows ?? []) add(this.rows)
    for (const { id } of leases ?? []) this.rows.add(DueWork.table, { release: id })
    if (idempotency !== undefined && answer !== undefined) {
      const { account_id, fingerprint, key, route } = idempotency
      const { expires_at } = this.#time
      this.rows.add(StoredAnswers.table, { account_id, route, key, fingerprint, answer, expires_at })
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
      // A stream has the events and states of its aggregate.
      const after = aggregate.stream === Email.stream ? (continuation.state as Email.State) : Email.initial
      if (after._tag === "NotCreated") continue
      for (const table of ofEmails) {
        const added = table.ofEmail?.(account_id, event as Email.Event, before as Email.State, after)
        if (added !== undefined && added.length > 0) rows.push(rowsOf(table, added))
      }
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
