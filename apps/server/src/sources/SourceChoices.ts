import * as BlockRules from "@waybill/mail/source/BlockRules"
import { rankSources } from "@waybill/mail/source/rankSources"
import * as SourceAddress from "@waybill/mail/source/SourceAddress"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import type { PgClient } from "@effect/sql-pg"
import { Clock, Duration, Effect, Random } from "effect"
import { hostname } from "node:os"
import { canBind } from "./canBind.ts"
import type { Obstacle } from "./Obstacle.ts"
import * as Obstacles from "./Obstacle.ts"
import * as Pools from "./PoolConfiguration.ts"
import * as SourceBudget from "./SourceBudget.ts"

/** Interval at which a worker learns of changes, and reports its counts. */
export const RELOAD_EVERY = Duration.seconds(10)
/** Timeout of one reload; the next one tries again. */
export const RELOAD_TIMEOUT = Duration.seconds(5)
/** Pause before the first configuration is read again. */
export const FIRST_LOAD_PAUSE = Duration.seconds(1)
/** Interval at which a worker tests which addresses its host has. */
export const BIND_EVERY = Duration.minutes(1)

export interface Options {
  /** Name in EHLO of addresses that have none. */
  readonly name: string
  readonly host?: string
  readonly every?: Duration.Duration
  readonly canBind?: (address: string) => Effect.Effect<boolean>
}

export interface SourceChoices extends SourceAddress.Sources {
  /** Reads the configuration anew, and reports the counts. */
  readonly reload: Effect.Effect<void>
}

const KERNEL: SourceAddress.Choice = { _tag: "Kernel" }

/** Chooses source addresses by the configuration in the database, which it reads periodically. */
export const make = (options: Options) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<PgClient.PgClient>()
    const withDatabase = Effect.provideContext(context)
    const budget = SourceBudget.make({
      claim: (key, mails, limit) => withDatabase(SourceCounts.claim(key, mails, limit)),
      report: (reports) => withDatabase(SourceCounts.report(reports)),
    })
    const test = options.canBind ?? canBind
    let current = Pools.EMPTY
    let isConfigured = false
    let absent: ReadonlySet<string> = new Set()
    let tested = new Set<string>()
    let testedAt = 0

    const testAddresses = Effect.fnUntraced(function* (addresses: ReadonlyArray<string>, now: number) {
      const isTime = now - testedAt >= Duration.toMillis(BIND_EVERY)
      if (!isTime && addresses.every((address) => tested.has(address))) return
      const results = yield* Effect.forEach(addresses, (address) =>
        Effect.map(test(address), (bindable) => ({ address, bindable })),
      )
      absent = new Set(results.filter(({ bindable }) => !bindable).map(({ address }) => address))
      tested = new Set(addresses)
      testedAt = now
      yield* withDatabase(SourceAddresses.recordHost(options.host ?? hostname(), results))
    })

    const load = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const today = WarmUp.dayOf(now)
      const read = Pools.read(yield* withDatabase(SourceAddresses.configuration(today)), today, options.name)
      const addresses = [...read.pools.values()].flatMap((pool) => pool.addresses.map(({ address }) => address))
      yield* testAddresses(addresses, now)
      current = read
      isConfigured = addresses.length > 0 || read.assignments.size > 0
    })
    let isFailing = false
    const inTime = load.pipe(
      Effect.timeout(RELOAD_TIMEOUT),
      Effect.tap(() => Effect.sync(() => (isFailing = false))),
    )
    const reload = Effect.andThen(
      budget.flush(),
      // Logs only the first of consecutive failures.
      Effect.catchCause(inTime, (cause) => {
        if (isFailing) return Effect.void
        isFailing = true
        return Effect.logWarning("source addresses could not be read; the last ones stay in use", cause)
      }),
    )
    /** Waits for the first configuration: without it, mail would leave from addresses that no operator chose. */
    const firstLoad: Effect.Effect<void> = Effect.catchCause(inTime, (cause) =>
      Effect.logWarning("source addresses could not be read; no mail is delivered directly until they are", cause).pipe(
        Effect.andThen(Effect.sleep(FIRST_LOAD_PAUSE)),
        Effect.andThen(firstLoad),
      ),
    )

    const obstacleOf = (
      one: Pools.PoolAddress,
      { families, provider, site, without }: SourceAddress.Request,
      now: number,
    ): Obstacle | undefined => {
      const { address, family } = one
      if (!families.has(family)) return { _tag: "OtherFamily" }
      const all = current.pauses.get(Pools.pauseKey(address, SourcePauses.EVERY_SITE))
      const own = current.pauses.get(Pools.pauseKey(address, SourcePauses.siteKey(site)))
      const pauses = [all, own].filter((pause) => pause !== undefined)
      if (pauses.some(({ until_ms }) => until_ms === null)) return { _tag: "Paused" }
      const until_ms = Math.max(0, ...pauses.map(({ until_ms }) => until_ms ?? 0))
      if (until_ms > now) return { _tag: "Blocked", until_ms }
      if (!absent.has(address) && !without.has(address)) return undefined
      const today = WarmUp.dayOf(now)
      if (Pools.isUsedUp(current, one, today, provider)) return { _tag: "UsedUp", until_ms: WarmUp.startOf(today + 1) }
      return { _tag: current.onAHost.has(address) ? "Elsewhere" : "Nowhere" }
    }

    const choose: SourceAddress.Sources["choose"] = Effect.fnUntraced(function* (request) {
      const { isResting, key, owner, provider, recipients } = request
      const now = yield* Clock.currentTimeMillis
      const today = WarmUp.dayOf(now)
      const assigned = Pools.assignedPool(current, owner)
      const pool = assigned ?? Pools.DEFAULT_POOL
      const chain = Pools.chainOf(current, pool)
      if (assigned === undefined && (chain[0]?.addresses.length ?? 0) === 0) return KERNEL
      const obstacles: Array<Obstacle> = []
      for (const { addresses } of chain) {
        const ranked = rankSources(addresses, key)
        const resting = ranked.filter(({ address }) => isResting(address))
        for (const each of [...ranked.filter((one) => !resting.includes(one)), ...resting]) {
          const { address, name } = each
          const obstacle = obstacleOf(each, request, now)
          if (obstacle !== undefined) {
            obstacles.push(obstacle)
            continue
          }
          const limit = Pools.limitOf(each, today, provider)
          const countKey = { address, day: today, provider }
          const mails = yield* budget.take(countKey, limit, recipients)
          if (mails === undefined) obstacles.push({ _tag: "Unknown" })
          else if (mails === 0) obstacles.push({ _tag: "UsedUp", until_ms: WarmUp.startOf(today + 1) })
          else {
            const giveBack = (count: number) => budget.giveBack(countKey, limit, count)
            return { _tag: "Chosen", source: { address, name }, recipients: mails, giveBack }
          }
        }
        // Another host sends it from this pool, so that it does not overflow.
        if (obstacles.some(({ _tag }) => _tag === "Elsewhere")) break
      }
      const shown = provider === SourceAddress.OTHER ? undefined : provider
      const random = yield* Random.next
      const waiting = Obstacles.waitingFor(obstacles, { pool, provider: shown, now_ms: now, random })
      yield* warnOnce(pool, waiting, obstacles, now)
      return { _tag: "None", ...waiting }
    })

    const warned = new Map<string, number>()
    /** Logs what an operator must correct, at most once a minute for each pool. */
    const warnOnce = (
      pool: string,
      { isBrief, reason }: Obstacles.Waiting,
      obstacles: ReadonlyArray<Obstacle>,
      now: number,
    ) => {
      const isExpected = obstacles.some(({ _tag }) => _tag === "UsedUp" || _tag === "Blocked" || _tag === "Paused")
      const isTime = now - (warned.get(pool) ?? -Infinity) >= Duration.toMillis(BIND_EVERY)
      if (isBrief || isExpected || !isTime) return Effect.void
      warned.set(pool, now)
      return Effect.logWarning("mail waits for a source address", { pool, reason })
    }

    const blocked: SourceAddress.Sources["blocked"] = Effect.fnUntraced(function* ({ address, pause_ms, reply, site }) {
      const now = yield* Clock.currentTimeMillis
      const key = Pools.pauseKey(address, SourcePauses.siteKey(site))
      const { pauses } = current
      const known = pauses.get(key)
      if (known !== undefined && (known.until_ms === null || known.until_ms > now)) return
      // Until the database answers, so that mail in flight does not report the same block.
      pauses.set(key, { until_ms: now + pause_ms })
      const longest_ms = BlockRules.LONGEST_PAUSE_MS
      const block = { address, site, reason: reply, now_ms: now, pause_ms, longest_ms }
      yield* withDatabase(SourcePauses.block(block)).pipe(
        Effect.flatMap((row) => {
          if (row === undefined) return Effect.void
          pauses.set(key, row)
          return row.is_new
            ? Effect.logWarning("source address is paused: a provider blocks it", { address, site, reply })
            : Effect.void
        }),
        Effect.catchCause((cause) => Effect.logWarning("pause of a source address could not be written", cause)),
      )
    })

    const markAbsent: SourceAddress.Sources["absent"] = (address) =>
      Effect.suspend(() => {
        if (absent.has(address)) return Effect.void
        absent = new Set([...absent, address])
        return Effect.logError("source address is not one of this host; it is not used until it is", { address })
      })

    yield* firstLoad
    yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(budget.flush(true), RELOAD_TIMEOUT)))
    yield* Effect.forkScoped(Effect.forever(Effect.delay(reload, options.every ?? RELOAD_EVERY)))
    return { isConfigured: () => isConfigured, choose, blocked, absent: markAbsent, reload } satisfies SourceChoices
  })
