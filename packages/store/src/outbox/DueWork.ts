import * as TestClock from "@waybill/domain/clock/TestClock"
import * as Domain from "@waybill/domain/domain/Domain"
import * as Email from "@waybill/domain/email/Email"
import * as EmailState from "@waybill/domain/email/EmailState"
import * as Recipient from "@waybill/domain/email/Recipient"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { TestClockId } from "@waybill/domain/values/Id"
import type { Fact } from "../log/Fact.ts"
import { type BatchRows, type BatchTable, ifAny, type WrittenBatch } from "../log/BatchTable.ts"
import { begins, type ChangedStream } from "../log/StreamRef.ts"
import * as Leases from "./Leases.ts"
import * as Outbox from "./Outbox.ts"
import { FAR_FUTURE, type LeaseFact, type OutboxRow } from "./OutboxRow.ts"

/** Change of an outbox row by a commit: by the verbs of the outbox. */
type Change =
  | { readonly arm: OutboxRow }
  /** Id of a row of which nothing is left to do. */
  | { readonly settle: string }
  /** Id of a row whose lease ends, because its holder commits. */
  | { readonly release: string }

/** Leases of outbox rows, which stay locked until the commit. */
export const fact: Fact<LeaseFact, (id: string) => LeaseFact | undefined> = {
  read: (sql, needs) => {
    const ids = [...new Set(needs.flatMap(({ outbox }) => outbox ?? []))]
    return ids.length === 0 ? [] : [{ rows: Leases.hold(sql, ids) }]
  },
  of: (rows) => {
    const leases = new Map(rows.map((lease) => [lease.id, lease]))
    return (id) => leases.get(id)
  },
}

/** The outbox: the work that follows from streams, and the ends of leases. */
export const table: BatchTable<Change> = {
  ofStream: (stream, { now, rows }) => {
    const row = nextWork(stream, now)
    if (row !== undefined) rows.add(table, row === "none" ? { settle: stream.stream_id } : { arm: row })
  },
  // Postgres does only one of two writes to the same row in one statement, so a lease is released before its row is armed again.
  write: (sql, batch) => {
    const changes = batch.rows.of(table)
    const settle = changes.flatMap((change) => ("settle" in change ? [change.settle] : []))
    const settled = new Set(settle)
    const release = changes.flatMap((change) =>
      "release" in change && !settled.has(change.release) ? [change.release] : [],
    )
    const { now } = batch
    const [newRows, others] = splitArmed(armedOf(changes), batch)
    return {
      first: ifAny(release, (ids) => Outbox.release(sql, ids)),
      simple: [
        ...ifAny(newRows, (rows) => Outbox.arm(sql, { rows, now, isNew: true })),
        ...ifAny(settle, (ids) => Outbox.settle(sql, ids)),
      ],
      expressions: ifAny(others, (rows) => Outbox.arm(sql, { rows, now })),
    }
  },
}

const armedOf = (changes: ReadonlyArray<Change>): ReadonlyArray<OutboxRow> =>
  changes.flatMap((change) => ("arm" in change ? [change.arm] : []))

/** Returns the rows that a batch inserts or gives a new time. */
export const armed = (rows: BatchRows): ReadonlyArray<OutboxRow> => armedOf(rows.of(table))

/** Separates, for a statement per table, rows that cannot be there yet, those of streams that begin and of calls, from the others. */
const splitArmed = (
  rows: ReadonlyArray<OutboxRow>,
  { changedStreams, isPerTable }: WrittenBatch,
): [newRows: ReadonlyArray<OutboxRow>, others: ReadonlyArray<OutboxRow>] => {
  if (!isPerTable) return [[], rows]
  const begun = new Set(changedStreams.filter(begins).map(({ stream_id }) => stream_id))
  const isNew = ({ id, kind }: OutboxRow) => kind === "webhook" || begun.has(id)
  return [rows.filter(isNew), rows.filter((row) => !isNew(row))]
}

/** Returns the outbox row of a stream: its next due work, `none` for no work, undefined for a kind of stream without work. */
export const nextWork = (stream: ChangedStream, now: string): OutboxRow | "none" | undefined => {
  switch (stream.aggregate.stream) {
    case Email.stream: {
      const row = delivery(stream, stream.state as Email.State)
      const clock = clockOf(stream)
      return row === "none" || clock === undefined ? row : onClock(row, clock, timeOf(stream), now)
    }
    case TestClock.stream:
      return advance(stream, stream.state as TestClock.State)
    case Domain.stream:
      return domainCheck(stream, stream.state as Domain.State)
    default:
      return undefined
  }
}

/** Payload of a deferred message's delivery. A search for queued messages passes over it (`EmailLogSource.ts`). */
const DEFERRED = { deferred: true }

/** Returns a row that is due when the first unfinished recipient is. */
const delivery = (stream: ChangedStream, message: Email.State): OutboxRow | "none" => {
  if (message._tag === "NotCreated") return "none"
  const unfinished = message.recipients.filter(Recipient.isUnfinished)
  if (unfinished.length === 0) return "none"
  const first = message.scheduled_at ?? message.accepted.created_at
  const due = unfinished.map(({ next_attempt_at }) => next_attempt_at ?? first)
  return {
    ...rowOf(
      stream,
      "delivery",
      due.reduce((a, b) => (a < b ? a : b)),
    ),
    attempt: unfinished.reduce((most, { attempts }) => Math.max(most, attempts), 0),
    payload: EmailState.status(message) === "deferred" ? DEFERRED : {},
  }
}

const rowOf = ({ account_id, stream_id }: ChangedStream, kind: OutboxRow["kind"], available_at: string): OutboxRow => ({
  id: stream_id,
  account_id,
  kind,
  stream_id,
  available_at,
  attempt: 0,
  payload: {},
})

/** The test clock that a stream lives on. */
export const clockOf = ({ aggregate, state }: ChangedStream): TestClockId | undefined => {
  if (aggregate.stream !== Email.stream) return undefined
  const message = state as Email.State
  return message._tag === "Message" ? message.accepted.test_clock : undefined
}

/** Time of the clock at the last event of a message. */
const timeOf = ({ added, state }: ChangedStream): string => {
  const last = added.at(-1)
  return last === undefined
    ? (state as EmailState.AcceptedEmail).updated_at
    : DomainEvent.occurredAt(last.event as DomainEvent.DomainEvent)
}

/** Moves a row to a clock: due at once if its time has come there, and out of reach of real time otherwise. */
const onClock = (row: OutboxRow, clock: string, shown: string, now: string): OutboxRow => ({
  ...row,
  clock,
  clock_due: row.available_at,
  available_at: row.available_at <= shown ? now : FAR_FUTURE,
})

/** An advance in progress is work since it began, and so is ending what waits on a deleted clock. */
const advance = (stream: ChangedStream, clock: TestClock.State): OutboxRow | "none" => {
  const since = clock._tag === "NotCreated" ? undefined : (clock.deleted_at ?? clock.advance?.since)
  return since === undefined ? "none" : rowOf(stream, "test_clock", since)
}

const domainCheck = (stream: ChangedStream, domain: Domain.State): OutboxRow | "none" =>
  domain._tag !== "Domain" || domain.next_check_at === null
    ? "none"
    : { ...rowOf(stream, "domain_check", domain.next_check_at), attempt: domain.checks }
