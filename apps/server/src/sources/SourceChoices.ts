import type { PgClient } from "@effect/sql-pg"
import * as BlockRules from "@waybill/mail/source/BlockRules"
import type * as SourceAddress from "@waybill/mail/source/SourceAddress"
import { unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import { Clock, Duration, Effect } from "effect"
import { hostname } from "node:os"
import { canBind } from "./canBind.ts"
import { chooseAddress } from "./chooseAddress.ts"
import * as Pools from "./PoolConfiguration.ts"
import * as SourceBudget from "./SourceBudget.ts"
import * as SourceState from "./SourceState.ts"

/** Interval at which a worker learns of changes, and reports its counts. */
export const RELOAD_EVERY = Duration.seconds(10)
/** Time for the last report when a worker stops. */
const LAST_REPORT_TIMEOUT = Duration.seconds(5)
/** Shortest interval between two warnings about mail of one pool that waits. */
const WARN_EVERY = Duration.minutes(1)

export interface SourceChoices extends SourceAddress.Sources {
  /** Reports the counts, and reads the configuration anew. */
  readonly reload: Effect.Effect<void>
}

/** Chooses source addresses by the configuration in the database, which it reads periodically. */
export const make = (
  options: Pick<SourceState.Options, "name"> &
    Partial<SourceState.Options> & { /** Longer in tests. */ readonly every?: Duration.Duration },
) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<PgClient.PgClient>()
    const withDatabase = Effect.provideContext(context)
    const budget = SourceBudget.make({
      claim: (key, mails, limit) => withDatabase(SourceCounts.claim(key, mails, limit)),
      report: (reports) => withDatabase(SourceCounts.report(reports)),
    })
    const state = SourceState.make({ host: hostname(), canBind, ...options })
    const reload = Effect.andThen(budget.flush(), withDatabase(state.load))
    const warn = warnings()
    yield* withDatabase(state.firstLoad)
    const lastReport = Effect.timeout(budget.flush(true), LAST_REPORT_TIMEOUT)
    yield* Effect.addFinalizer(() => Effect.ignoreCause(lastReport))
    yield* Effect.forkScoped(Effect.forever(Effect.delay(reload, options.every ?? RELOAD_EVERY)))
    return {
      isConfigured: () => Pools.isConfigured(state.current()),
      choose: (request) => Effect.tap(chooseAddress(state, budget, request), warn),
      blocked: (block) => withDatabase(pauseBlocked(state, block)),
      absent: (address) =>
        Effect.suspend(() => {
          if (state.isAbsent(address)) return Effect.void
          state.addAbsent(address)
          return Effect.logError("source address is not one of this host; it is not used until it is", { address })
        }),
      reload,
    } satisfies SourceChoices
  })

/** Logs what an operator must correct, at most once a minute for each pool. */
const warnings = () => {
  const warned = new Map<string, number>()
  return Effect.fnUntraced(function* (choice: SourceAddress.Choice) {
    if (choice._tag !== "None" || choice.isBrief || choice.isExpected) return
    const { pool, reason } = choice
    const now = yield* Clock.currentTimeMillis
    if (now - (warned.get(pool) ?? -Infinity) < Duration.toMillis(WARN_EVERY)) return
    warned.set(pool, now)
    yield* Effect.logWarning("mail waits for a source address", { pool, reason })
  })
}

/** Pauses an address for a site that blocks it, here at once and in the database for all workers. */
const pauseBlocked = Effect.fnUntraced(function* (
  state: SourceState.SourceState,
  { address, pause_ms, reply, site }: SourceAddress.Block,
) {
  const now = yield* Clock.currentTimeMillis
  const key = Pools.pauseKey(address, SourcePauses.siteKey(site))
  const { pauses } = state.current()
  const known = pauses.get(key)
  if (known !== undefined && (known.until_ms === null || known.until_ms > now)) return
  // Until the database answers, so that mail in flight does not report the same block.
  pauses.set(key, { until_ms: now + pause_ms })
  const longest_ms = BlockRules.LONGEST_PAUSE_MS
  yield* SourcePauses.block({ address, site, reason: reply, now_ms: now, pause_ms, longest_ms }).pipe(
    Effect.flatMap((row) => {
      if (row === undefined) return Effect.void
      pauses.set(key, row)
      return row.is_new
        ? Effect.logWarning("source address is paused: a provider blocks it", { address, site, reply })
        : Effect.void
    }),
    Effect.catchCause((cause) =>
      unlessAway(Effect.logWarning("pause of a source address could not be written", cause), cause),
    ),
  )
})
