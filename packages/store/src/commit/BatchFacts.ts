import { Effect } from "effect"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { Subscriptions } from "../webhooks/Subscriptions.ts"
import type { CommitDeps, PendingCommit } from "./Commit.ts"
import type { Assumed, Facts, LogTransaction, Needs, StorageError } from "./LogStorage.ts"

export const NOTHING_ASSUMED: Assumed = { lastEvents: [], leases: [], subscriptions: new Map() }

/** Facts that the commits of a batch are decided by. */
export interface BatchFacts {
  readonly facts: Facts
  readonly assumed: {
    /** Subscriptions that were remembered instead of read. */
    readonly subscriptions: Subscriptions | undefined
    /** Whether the leases of the batch were not read. */
    readonly leases: boolean
  }
}

type FactOfLease = Facts["outbox"]

/**
 * Reads the facts of a batch, and assumes what it can: the leases of its commits and, if they need no other facts, the
 * subscriptions of their accounts.
 */
export const load = (
  deps: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
  now: string,
  mayAssume: boolean,
): Effect.Effect<BatchFacts, StorageError> => {
  const accounts = batch.map(({ commit }) => commit.account_id)
  const outbox = mayAssume ? assumedLeases(batch) : undefined
  const remembered = outbox !== undefined && batch.every(needsNothing) ? deps.subscriptions.find(accounts) : undefined
  if (outbox !== undefined && remembered !== undefined)
    return Effect.succeed({
      facts: assumedFacts(remembered, outbox),
      assumed: { subscriptions: remembered, leases: batch.some(hasLeases) },
    })
  const needs = batch.map((pending) => needsOf(pending, outbox === undefined))
  return Effect.map(transaction.readFacts(needs, now), (facts) => {
    deps.subscriptions.store(accounts, facts)
    return {
      facts: outbox === undefined ? facts : { ...facts, outbox },
      assumed: { subscriptions: undefined, leases: outbox !== undefined && batch.some(hasLeases) },
    }
  })
}

const needsOf = ({ commit: { account_id, leases, needs } }: PendingCommit, readsLeases: boolean) => ({
  account_id,
  ...needs,
  ...(leases === undefined || !readsLeases
    ? {}
    : { outbox: [...(needs?.outbox ?? []), ...leases.map(({ id }) => id)] }),
})

const hasLeases = ({ commit: { leases } }: PendingCommit): boolean => leases !== undefined && leases.length > 0

const needsNothing = ({ commit: { needs } }: PendingCommit): boolean => needs === undefined || isEmpty(needs)

const isEmpty = (needs: Needs): boolean => Object.keys(needs).length === 0

/**
 * Returns the leases that the commits of a batch hold. Undefined if a commit needs to know those of others or holds a test clock,
 * or if two settle the same row, of which one may have lost its lease to the other.
 */
const assumedLeases = (batch: ReadonlyArray<PendingCommit>): FactOfLease | undefined => {
  const leases = new Map<string, string>()
  let count = 0
  for (const { commit } of batch) {
    if (commit.needs?.outbox !== undefined || holdsClocks(commit)) return undefined
    for (const { id, token } of commit.leases ?? []) {
      leases.set(id, token)
      count++
    }
  }
  if (leases.size < count) return undefined
  return (id) => {
    const lease_token = leases.get(id)
    return lease_token === undefined ? undefined : { id, lease_token, lease_until: null, attempt: 0 }
  }
}

/** Clocks are locked after the rows that live on them, which are read for that. */
const holdsClocks = ({ needs }: PendingCommit["commit"]): boolean =>
  needs?.clocks !== undefined || needs?.clocksOf !== undefined

const assumedFacts = (subscriptions: Subscriptions, outbox: FactOfLease): Facts => ({
  account: () => undefined,
  domain: () => undefined,
  suppression: () => undefined,
  acceptedIn: () => 0,
  outbox,
  countOf: () => 0,
  clock: () => undefined,
  subscriptions: (account) => subscriptions.get(Livemode.liveAccountOf(account)) ?? [],
})
