import { unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import type { PgClient } from "@effect/sql-pg"
import * as WarmUp from "@waybill/mail/source/WarmUp"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import { Clock, Duration, Effect } from "effect"
import * as Pools from "./PoolConfiguration.ts"

/** Timeout of one load; the next one tries again. */
export const LOAD_TIMEOUT = Duration.seconds(5)
/** Pause before the first configuration is read again. */
export const FIRST_LOAD_PAUSE = Duration.seconds(1)
/** Interval at which a worker tests which addresses its host has. */
export const BIND_EVERY = Duration.minutes(1)

export interface Options {
  /** Name in EHLO of addresses that have none. */
  readonly name: string
  readonly host: string
  readonly canBind: (address: string) => Effect.Effect<boolean>
}

/** The configuration in the memory of a worker, and the addresses that its host lacks. */
export interface SourceState {
  readonly current: () => Pools.PoolConfiguration
  readonly isAbsent: (address: string) => boolean
  readonly addAbsent: (address: string) => void
  /** Reads the configuration. A load that fails leaves the former one. */
  readonly load: Effect.Effect<void, never, PgClient.PgClient>
  /** Reads the first configuration: without it, mail would leave from addresses that no operator chose. */
  readonly firstLoad: Effect.Effect<void, never, PgClient.PgClient>
}

export const make = ({ canBind, host, name }: Options): SourceState => {
  let current = Pools.EMPTY
  let absent: ReadonlySet<string> = new Set()
  let tested: ReadonlySet<string> = new Set()
  let testedAt = 0
  let isFailing = false

  const testAddresses = Effect.fnUntraced(function* (addresses: ReadonlyArray<string>, now: number) {
    const isTime = now - testedAt >= Duration.toMillis(BIND_EVERY)
    if (!isTime && addresses.every((address) => tested.has(address))) return
    const results = yield* Effect.forEach(addresses, (address) =>
      Effect.map(canBind(address), (bindable) => ({ address, bindable })),
    )
    absent = new Set(results.filter(({ bindable }) => !bindable).map(({ address }) => address))
    tested = new Set(addresses)
    testedAt = now
    yield* SourceAddresses.recordHost(host, results)
  })

  const read = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const today = WarmUp.dayOf(now)
    const stored = yield* SourceAddresses.configuration(today)
    const addresses = stored.addresses.map(({ address }) => address)
    yield* testAddresses(addresses, now)
    current = Pools.read(stored, today, name)
    isFailing = false
  }).pipe(Effect.timeout(LOAD_TIMEOUT))

  const firstLoad: SourceState["firstLoad"] = Effect.catchCause(read, (cause) =>
    Effect.logWarning("source addresses could not be read; no mail is delivered directly until they are", cause).pipe(
      Effect.andThen(Effect.sleep(FIRST_LOAD_PAUSE)),
      Effect.andThen(firstLoad),
    ),
  )
  return {
    current: () => current,
    isAbsent: (address) => absent.has(address),
    addAbsent: (address) => {
      absent = new Set([...absent, address])
    },
    // Logs only the first of consecutive failures.
    load: Effect.catchCause(read, (cause) => {
      if (isFailing) return Effect.void
      isFailing = true
      return unlessAway(
        Effect.logWarning("source addresses could not be read; the last ones stay in use", cause),
        cause,
      )
    }),
    firstLoad,
  }
}
