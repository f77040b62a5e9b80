import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { unlessAway } from "@waybill/store/postgres/StoreUnavailable"
import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Clock, Context, Duration, Effect, Option } from "effect"
import type { Provider } from "./formats/ProviderEvent.ts"
import * as HookAddress from "./HookAddress.ts"

/**
 * Interval at which a process reads a hook at home again, adds to its numbers there and looks for kept events: calls cost home
 * no more, however many there are.
 */
export const HOME_EVERY = Context.Reference<Duration.Duration>("@waybill/server/providers/KnownHooks/HOME_EVERY", {
  defaultValue: () => Duration.seconds(5),
})
/** Time limit of a read or write at home. The call goes on without it. */
const HOME_WITHIN = Duration.seconds(2)

/** A hook, as a process knows it. */
export interface KnownHook {
  readonly id: string
  /** Proves its calls; empty if there is none. */
  readonly secret: string
  /** Numbers counted since those at home were written. */
  counted: ProviderHooks.Counted
  /** Whether work at home is due, which is then the caller's. */
  readonly isDue: () => boolean
}

interface Entry {
  readonly hook: KnownHook
  usedUntil: number
}

/** The hooks whose calls a process has received. While home is away, their calls are received as before. */
export const make = Effect.gen(function* () {
  const every = Duration.toMillis(yield* HOME_EVERY)
  const clock = yield* Clock.Clock
  const secrets = yield* Secrets
  const now = () => MonotonicClock.millisOf(clock)
  const entries = new LruCache<string, Entry>({ maxEntries: ProviderHooks.MAX_HOOKS })
  /** The hooks with numbers that are not written yet. */
  const unwritten = new Set<KnownHook>()

  const known = (id: string, secret: string): KnownHook => {
    let dueAt = -Infinity
    const isDue = () => {
      if (now() < dueAt) return false
      dueAt = now() + every
      return true
    }
    return { id, secret, counted: ProviderHooks.NOTHING, isDue }
  }
  const read = Effect.fnUntraced(function* (provider: Provider, token_hash: string, entry: Entry | undefined) {
    const found = yield* ProviderHooks.find(provider, token_hash)
    const key = `${provider} ${token_hash}`
    if (Option.isNone(found)) {
      entries.delete(key)
      return Option.none<KnownHook>()
    }
    const sealed = yield* secrets.open(HookAddress.secretRef(found.value))
    const secret = Option.match(sealed, { onNone: () => "", onSome: (bytes) => Buffer.from(bytes).toString("utf8") })
    const hook = entry?.hook.secret === secret ? entry.hook : known(found.value, secret)
    entries.set(key, { hook, usedUntil: now() + every })
    return Option.some(hook)
  })

  /** The hook at an address. */
  const find = (provider: Provider, token_hash: string) =>
    Effect.suspend(() => {
      const entry = entries.get(`${provider} ${token_hash}`)
      if (entry === undefined) return read(provider, token_hash, entry)
      if (now() < entry.usedUntil) return Effect.succeed(Option.some(entry.hook))
      // Other calls go on with what is known meanwhile.
      entry.usedUntil = now() + Math.min(every, Duration.toMillis(HOME_WITHIN))
      return Effect.orElseSucceed(Effect.timeout(read(provider, token_hash, entry), HOME_WITHIN), () => {
        entry.usedUntil = now() + every
        return Option.some(entry.hook)
      })
    })

  /** Writes the numbers of a hook at home. Those that cannot be written are kept for the next time. */
  const write = (hook: KnownHook) =>
    Effect.suspend(() => {
      const { counted } = hook
      hook.counted = ProviderHooks.NOTHING
      unwritten.delete(hook)
      return Effect.catchCause(Effect.timeout(ProviderHooks.count(hook.id, counted), HOME_WITHIN), (cause) => {
        hook.counted = ProviderHooks.sum(counted, hook.counted)
        unwritten.add(hook)
        return unlessAway(
          Effect.logWarning("numbers of a provider's hook could not be written; it will retry", cause),
          cause,
        )
      })
    })
  const writeAll = Effect.suspend(() =>
    Effect.forEach([...unwritten], write, { concurrency: "unbounded", discard: true }),
  )
  yield* Effect.addFinalizer(() => writeAll)
  if (every > 0) yield* Effect.forkScoped(Effect.forever(Effect.delay(writeAll, Duration.millis(every))))

  /** Adds to the numbers of a hook, and writes them if they are due. */
  const count = (hook: KnownHook, counted: Partial<ProviderHooks.Counted>, isDue = hook.isDue()) =>
    Effect.suspend(() => {
      hook.counted = ProviderHooks.sum(hook.counted, { ...ProviderHooks.NOTHING, ...counted })
      unwritten.add(hook)
      return isDue ? write(hook) : Effect.void
    })
  return { find, count }
})

export type KnownHooks = Effect.Success<typeof make>
