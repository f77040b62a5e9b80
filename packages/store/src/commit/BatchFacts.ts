import { Effect } from "effect"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { Subscriptions } from "../webhooks/Subscriptions.ts"
import type { CommitDeps, PendingCommit } from "./Commit.ts"
import type { Assumed, Facts, LogTransaction, Needs, StorageError } from "./LogStorage.ts"

export const NOTHING_ASSUMED: Assumed = { lastEvents: [], leases: [], subscriptions: new Map() }

/** Facts that the commits of a batch are decided by. */
export interface BatchFacts {
  readonly facts: Facts
  /** Subscriptions that were remembered instead of read; the leases of the batch are then assumed as well. */
  readonly assumed: Subscriptions | undefined
}

/**
 * Reads the facts of a batch, or assumes them: most batches need none but their leases and the subscriptions of their
 * accounts. Rows are locked in one order, so a batch that reads any facts reads its leases with them.
 */
export const load = (
  deps: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
  now: string,
  mayAssume: boolean,
): Effect.Effect<BatchFacts, StorageError> => {
  const accounts = batch.map(({ commit }) => commit.account_id)
  const assumed = mayAssume && batch.every(needsNothing) ? deps.subscriptions.find(accounts) : undefined
  const facts = assumed === undefined ? undefined : assumedFacts(assumed, batch)
  if (facts !== undefined) return Effect.succeed({ facts, assumed })
  return Effect.map(transaction.readFacts(batch.map(needsOf), now), (facts) => {
    deps.subscriptions.store(accounts, facts)
    return { facts, assumed: undefined }
  })
}

const needsOf = ({ commit: { account_id, leases, needs } }: PendingCommit) => ({
  account_id,
  ...needs,
  ...(leases === undefined ? {} : { outbox: [...(needs?.outbox ?? []), ...leases.map(({ id }) => id)] }),
})

const needsNothing = ({ commit: { needs } }: PendingCommit): boolean => needs === undefined || isEmpty(needs)

const isEmpty = (needs: Needs): boolean => Object.keys(needs).length === 0

/** Returns undefined if two commits settle the same row, of which one may have lost its lease to the other. */
const assumedFacts = (subscriptions: Subscriptions, batch: ReadonlyArray<PendingCommit>): Facts | undefined => {
  const leases = new Map<string, string>()
  let count = 0
  for (const { commit } of batch)
    for (const { id, token } of commit.leases ?? []) {
      leases.set(id, token)
      count++
    }
  if (leases.size < count) return undefined
  return {
    account: () => undefined,
    domain: () => undefined,
    suppression: () => undefined,
    acceptedIn: () => 0,
    outbox: (id) => {
      const lease_token = leases.get(id)
      return lease_token === undefined ? undefined : { id, lease_token, lease_until: null, attempt: 0 }
    },
    countOf: () => 0,
    clock: () => undefined,
    subscriptions: (account) => subscriptions.get(Livemode.liveAccountOf(account)) ?? [],
  }
}
