import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import { Effect } from "effect"
import type { CommitDeps, PendingCommit } from "./Commit.ts"
import type { AccountNeeds, AssumedFacts, Facts } from "../facts/Facts.ts"
import type { Assumed, LogTransaction } from "./LogStorage.ts"
import type { StorageError } from "../postgres/StorageError.ts"

export const NO_FACTS: AssumedFacts = { subscriptions: new Map(), accounts: [], domains: [], addresses: [], usage: [] }
export const NOTHING_ASSUMED: Assumed = { lastEvents: [], leases: [], facts: NO_FACTS, answers: [] }

/** Facts that the commits of a batch are decided by. */
export interface BatchFacts {
  readonly facts: Facts
  readonly assumed: {
    /** Facts that were remembered instead of read. */
    readonly facts: AssumedFacts | undefined
    /** Whether the leases of the batch were not read. */
    readonly leases: boolean
  }
}

type FactOfLease = Facts["outbox"]

/** Returns the facts of a batch: leases that its commits hold and facts that this process remembers, or reads them. */
export const load = (
  { remembered }: CommitDeps,
  transaction: LogTransaction,
  batch: ReadonlyArray<PendingCommit>,
  now: string,
  mayAssume: boolean,
): Effect.Effect<BatchFacts, StorageError> => {
  const outbox = mayAssume ? assumedLeases(batch) : undefined
  const leases = outbox !== undefined && batch.some(hasLeases)
  const needs = batch.map((pending) => needsOf(pending, outbox === undefined))
  const found = outbox === undefined ? undefined : remembered.find(needs)
  if (outbox !== undefined && found !== undefined)
    return Effect.succeed({
      facts: { ...NEVER_ASSUMED, ...found.facts, outbox },
      assumed: { facts: found.assumed, leases },
    })
  return Effect.map(transaction.readFacts(needs, now), (facts) => {
    remembered.store(needs, facts)
    return { facts: outbox === undefined ? facts : { ...facts, outbox }, assumed: { facts: undefined, leases } }
  })
}

/** No commit needs these where facts are assumed. */
const NEVER_ASSUMED: Pick<Facts, "countOf" | "clock" | "unsent"> = {
  countOf: () => 0,
  clock: () => undefined,
  unsent: () => UnsentMail.NONE,
}

/** Returns what a commit needs to know, with the leases of its rows if they are read. */
export const needsOf = (
  { commit: { account_id, leases, needs } }: PendingCommit,
  readsLeases: boolean,
): AccountNeeds => ({
  account_id,
  ...needs,
  ...(leases === undefined || !readsLeases
    ? {}
    : { outbox: [...(needs?.outbox ?? []), ...leases.map(({ id }) => id)] }),
})

const hasLeases = ({ commit: { leases } }: PendingCommit): boolean => leases !== undefined && leases.length > 0

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
