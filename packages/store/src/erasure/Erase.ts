import * as Account from "@waybill/domain/account/Account"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Team from "@waybill/domain/account/Team"
import { Effect, Result } from "effect"
import * as RoutedClient from "../routing/RoutedClient.ts"
import * as Reachable from "../routing/Reachable.ts"
import { StrayAccounts } from "../routing/StrayAccounts.ts"
import { EventKinds } from "../feed/EventKinds.ts"
import * as MoveSteps from "../moves/MoveSteps.ts"
import * as Session from "../database/Session.ts"
import * as Epoch from "../postgres/Epoch.ts"
import * as EraseContent from "./EraseContent.ts"
import * as InboundContent from "../content/InboundContent.ts"
import * as AffectedStreams from "./AffectedStreams.ts"
import * as EraseStats from "./EraseStats.ts"
import * as EraseWords from "./EraseWords.ts"
import { appendInTransaction } from "../commit/EventStore.ts"
import type { LogTransaction } from "../commit/LogStorage.ts"
import * as PipelinedConnection from "../database/PipelinedConnection.ts"
import * as Mask from "./Mask.ts"
import { maskStream } from "./maskStream.ts"
import * as PostgresLogStorage from "../commit/PostgresLogStorage.ts"
import * as StreamRemoval from "./StreamRemoval.ts"
import * as LogTree from "../transparency/LogTree.ts"
import * as Memberships from "../users/Memberships.ts"
import { Sql } from "../postgres/Sql.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import * as SqlErrors from "../postgres/SqlErrors.ts"

/**
 * Kinds of streams about people. Other streams that name an address (a webhook's URL, a description) are for their
 * owner to change.
 */
const KINDS: ReadonlyArray<string> = [Email.stream, Inbound.stream, Suppression.stream, Team.stream]

export interface RemainingCopy extends AffectedStreams.StreamOfAccount {
  readonly why: string
}
export interface Erased {
  /** Number of streams and events masked, per account. */
  readonly accounts: ReadonlyMap<AccountId, { readonly streams: number; readonly events: number }>
  /** Copies of the address that were not erased, with the reason. */
  readonly remaining: ReadonlyArray<RemainingCopy>
  /** Databases that did not answer, in which nothing was erased, or not all. */
  readonly unreachable: ReadonlyArray<string>
  /** Databases of several in which the address remains for now, with the reason. */
  readonly refused: ReadonlyArray<Refused>
}

export interface Refused {
  readonly cell: string
  readonly why: string
}

/**
 * Histories masked in one transaction, together with the event that records it. The account is locked for that long.
 */
export const BATCH_STREAMS = 50
/** Retries after a deadlock. A deadlock usually passes at the next attempt. */
const TRIES = 5
const SETTINGS = { plan_cache_mode: Session.SESSION.plan_cache_mode } as const

/** Finds the histories of all databases that answer that name the address: those that can be changed, and those that only their owner can change. */
export const find = Effect.fn("Erase.find")(function* (address: Address.Address) {
  const sql = yield* Sql
  const { rows: affected, unreachable } = yield* Reachable.rowsOf(
    AffectedStreams.find(sql, address, Mask.make(address, address)),
  )
  return {
    changeable: affected.filter(({ stream }) => KINDS.includes(stream)),
    kept: affected.filter(({ stream }) => !KINDS.includes(stream)),
    unreachable,
  }
})

/**
 * Removes an address from the log, the read models and the contents of all databases that answer, some histories per
 * transaction. May be stopped at any time and run again, also for those that did not answer, or in which a rebuild runs.
 * An account whose move was stopped is erased in both of its databases.
 */
export const erase = Effect.fn("Erase.erase")(function* (address: Address.Address, replacement: Address.Address) {
  const inAll = Reachable.each(eraseHere(address, replacement))
  const { results, unreachable } = yield* MoveSteps.whileNoneMoves(yield* Sql, inAll)
  yield* EraseWords.eraseViews(address, Mask.make(address, replacement))
  const refused = results.flatMap(([cell, { underWay }]) => (underWay === undefined ? [] : [{ cell, underWay }]))
  if (results.length === 1 && unreachable.length === 0 && refused[0] !== undefined) return yield* refused[0].underWay
  // Only all databases together say that a user is a member no more.
  if (unreachable.length + refused.length === 0) yield* deleteUsers(yield* HomeSql, address)
  return {
    accounts: new Map(results.flatMap(([, { accounts }]) => [...accounts])),
    remaining: withoutRepeated(results.flatMap(([, { remaining }]) => remaining)),
    unreachable,
    refused: refused.map(({ cell, underWay }) => ({ cell, why: underWay.message })),
  } satisfies Erased
})

/** An account whose move was stopped has the same copies in two databases. */
const withoutRepeated = (copies: ReadonlyArray<RemainingCopy>): ReadonlyArray<RemainingCopy> => [
  ...new Map(copies.map((copy) => [`${copy.account_id} ${copy.stream} ${copy.stream_id}`, copy])).values(),
]

/** Removes an address from the fiber's database, unless and until a rebuild is under way there. */
const eraseHere = Effect.fnUntraced(function* (address: Address.Address, replacement: Address.Address) {
  const sql = yield* RoutedClient.here(yield* Sql)
  const mask = Mask.make(address, replacement)
  const log = PostgresLogStorage.make({
    sql,
    connection: yield* PipelinedConnection.make(sql, SETTINGS, Epoch.enter),
  })
  const accounts = new Map<AccountId, { streams: number; events: number }>()
  const remaining: Array<RemainingCopy> = []
  const strays = yield* StrayAccounts
  const kinds = yield* EventKinds
  /** Counts of the accounts that are in this database. */
  const own = () => new Map([...accounts].filter(([account_id]) => !strays.has(Livemode.liveAccountOf(account_id))))
  const checked = yield* Effect.result(StreamRemoval.requireNoRebuild(sql, KINDS))
  if (Result.isFailure(checked))
    return checked.failure._tag === "StoreUnavailable"
      ? yield* checked.failure
      : { accounts, remaining, underWay: checked.failure }
  const awaited = new Set(yield* InboundContent.awaited(sql))
  const isAwaited = ({ stream_id }: AffectedStreams.StreamOfAccount) => awaited.has(stream_id)
  const found = yield* AffectedStreams.find(sql, address, mask)
  const affected = found.filter((stream) => !isAwaited(stream))
  // Contents first: if this is stopped in between, nothing would lead to them once the events are masked.
  const content = yield* EraseContent.erase(sql, address, mask, affected, awaited)
  for (const { account_id, stream_id, stream } of [...content, ...found.filter(isAwaited)])
    remaining.push({
      account_id,
      stream,
      stream_id,
      why: "content of mail in progress: cancel the mail, or run this again when it is final",
    })
  for (const { isRecipient: _, ...stream } of affected)
    if (!KINDS.includes(stream.stream)) remaining.push({ ...stream, why: "to be changed by the account itself" })
  const maskable = affected.filter(({ stream }) => KINDS.includes(stream))
  for (const [account_id, ofAccount] of Map.groupBy(maskable, (affectedStream) => affectedStream.account_id)) {
    for (let nth = 0; nth < ofAccount.length; nth += BATCH_STREAMS) {
      const batch = yield* log
        .transaction({ accounts: [account_id], isExclusive: true }, (transaction) =>
          // The transaction fails only with errors of the log storage, so a running rebuild is returned as a value.
          eraseStreams(sql, transaction, account_id, ofAccount.slice(nth, nth + BATCH_STREAMS), mask, replacement).pipe(
            Effect.catchTag("RebuildUnderWay", (underWay) => Effect.succeed(underWay)),
            Effect.provideService(EventKinds, kinds),
            SqlErrors.asStorageErrors,
          ),
        )
        .pipe(
          Effect.retry({ while: ({ _tag }) => _tag === "TryAgain", times: TRIES }),
          Effect.catch(SqlErrors.outcomeOf),
        )
      if (batch instanceof StreamRemoval.RebuildUnderWay) return { accounts: own(), remaining, underWay: batch }
      remaining.push(...batch.remaining)
      if (batch.streams === 0) continue
      const { events, streams } = accounts.get(account_id) ?? { streams: 0, events: 0 }
      accounts.set(account_id, { streams: streams + batch.streams, events: events + batch.events })
    }
  }
  yield* sql.withTransaction(EraseWords.erase(sql, address, mask))
  yield* sql.withTransaction(EraseStats.erase(sql, address, mask)).pipe(
    // A swap, and dropping a version, lock the table before its version, so a deadlock with them is possible.
    Effect.retry({ while: ({ why }) => why === "conflict", times: TRIES }),
  )
  return { accounts: own(), remaining, underWay: undefined }
}, Effect.scoped)

/** Masks streams and records that in the same transaction, so that no masking stays unrecorded. */
const eraseStreams = Effect.fnUntraced(function* (
  sql: Sql,
  transaction: LogTransaction,
  account_id: AccountId,
  ofAccount: ReadonlyArray<AffectedStreams.StreamOfAccount>,
  mask: Mask.Mask,
  replacement: Address.Address,
) {
  const tables = yield* StreamRemoval.takeAccount(sql, account_id, KINDS)
  yield* LogTree.hold(sql)
  const remaining: Array<RemainingCopy> = []
  let streams = 0
  let events = 0
  for (const { stream, stream_id } of ofAccount) {
    const key = { account_id, stream, stream_id }
    const done = yield* maskStream(sql, key, mask, tables)
    if (done.remaining !== undefined) remaining.push({ ...key, why: done.remaining })
    if (done.events > 0) streams++
    events += done.events
  }
  if (streams > 0) yield* recordErasure(transaction, account_id, replacement, { streams, events })
  return { remaining, streams, events }
})

const recordErasure = Effect.fnUntraced(function* (
  transaction: LogTransaction,
  account_id: AccountId,
  erased_as: string,
  counts: { readonly streams: number; readonly events: number },
) {
  const owner = Livemode.liveAccountOf(account_id)
  yield* appendInTransaction(transaction, {
    account_id: owner,
    streams: [{ aggregate: Account, id: owner }],
    decide: (view) =>
      Result.map(Account.recordErased(view.now, erased_as, counts)(view.state(Account, owner)), (events) => ({
        append: [{ aggregate: Account, id: owner, events }],
        answer: null,
      })),
  }).pipe(
    // The account is there.
    Effect.catchTags({ AccountNotFound: Effect.die, NothingNew: Effect.die }),
  )
})

/**
 * Deletes users with this address who are no members any more. Addresses are compared here, because not every database
 * can lowercase all letters.
 */
const deleteUsers = Effect.fnUntraced(function* (sql: Sql, address: Address.Address) {
  const users = yield* sql<{ readonly id: string; readonly email: Address.Address }>`
    SELECT id, email FROM users WHERE lower(email COLLATE "C") LIKE ANY(${Mask.patterns(address)}::text[])`
  const theirs = users.flatMap(({ email, id }) => (Address.keyOf(email) === Address.keyOf(address) ? [id] : []))
  const memberships = yield* Memberships.find(theirs)
  const members = new Set(memberships.flatMap(({ status, user_id }) => (status === "removed" ? [] : [user_id])))
  const former = theirs.filter((id) => !members.has(id))
  yield* sql`DELETE FROM users WHERE id = ANY(${former}::text[])`
  yield* sql`DELETE FROM account_names WHERE kind = 'user' AND name = ANY(${former}::text[])`
})
