import { Clock, Effect, Exit, Schema, type Scope } from "effect"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import * as Cooldown from "./Cooldown.ts"
import { type IdleConnection, type Site, SiteConnections } from "./SiteConnections.ts"
import type { ConnectFailed, SmtpConnection } from "../smtp/SmtpConnection.ts"

/** Time that a connection may stay idle; servers tend to hang up after one to five minutes. */
export const IDLE_MS = 20_000
export const REAP_MS = 5_000
/** Time that a message waits for a connection to a busy site before it is put back, rounded to the next check. */
export const WAIT_MS = 20_000
/** Maximum number of sites that a process remembers; beyond it, those without connections and pauses are forgotten. */
export const SITES = 10_000

/** The site asked for a pause, or all its connections are in use: nothing was tried. */
export class AtCapacity extends Schema.TaggedError<AtCapacity>()("AtCapacity", {
  site: Schema.String,
  reason: Schema.Literals(["cooling_down", "busy"]),
  retry_after_ms: Schema.Number,
}) {
  override get message() {
    return this.reason === "busy"
      ? `all connections to ${this.site} are in use`
      : `${this.site} requested a pause; ${Math.ceil(this.retry_after_ms / 1000)} s remain`
  }
}

export interface SitePool {
  /**
   * Runs on a connection of the pool, or a new one. The server may have hung up unnoticed on one that is reused.
   * Interruption drops the connection.
   */
  readonly use: <A>(
    site: Site,
    connect: Effect.Effect<SmtpConnection, ConnectFailed>,
    run: (connection: SmtpConnection, reused: boolean) => Effect.Effect<A>,
  ) => Effect.Effect<A, ConnectFailed | AtCapacity>
  /** Records a complaint and returns how long the site is left alone from now on. */
  readonly throttled: (site: Site) => Effect.Effect<number>
  readonly accepted: (site: Site) => void
  /** Whether a site has requested a pause that has not ended. */
  readonly isPaused: (key: string, now: number) => boolean
  readonly stats: Effect.Effect<
    ReadonlyArray<{
      readonly site: string
      readonly busy: number
      readonly idle: number
      readonly limit: number
      readonly paused_ms: number
    }>
  >
}

/** Closing the scope sends QUIT on idle connections; connections in use belong to their users. */
export const make = (
  options: { readonly idle_ms?: number; readonly wait_ms?: number } = {},
): Effect.Effect<SitePool, never, Scope.Scope> =>
  Effect.gen(function* () {
    const idle_ms = options.idle_ms ?? IDLE_MS
    const wait_ms = options.wait_ms ?? WAIT_MS
    const sites = new Map<string, SiteConnections>()
    const scope = yield* Effect.scope
    let isOpen = true
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isOpen = false
        const idle = [...sites.values()].flatMap((connections) => connections.idle.splice(0))
        return Effect.forEach(idle, ({ connection }) => connection.quit, { concurrency: "unbounded", discard: true })
      }),
    )

    const connectionsOf = (site: Site): SiteConnections => {
      const existing = sites.get(site.key)
      if (existing !== undefined) return existing
      if (sites.size >= SITES) forgetUnused(sites)
      const connections = new SiteConnections(site)
      sites.set(site.key, connections)
      return connections
    }
    const close = (connections: SiteConnections, connection: SmtpConnection) =>
      Effect.suspend(() => {
        connections.closing++
        const closed = Effect.sync(() => {
          // The pool may be closed before QUIT is sent.
          connection.destroy()
          connections.closing--
          connections.resumeNext()
        })
        return Effect.asVoid(Effect.forkIn(Effect.ensuring(connection.quit, closed), scope))
      })
    const waitForSlot = (site: Site, connections: SiteConnections, deadline: number): Effect.Effect<void> =>
      Effect.callback((resume) => {
        // A slot may have become free since the last check.
        if (connections.open < connections.cooldown.limit) return resume(Effect.void)
        const place = connections.waiting.add({ route: site.route, deadline, resume: () => resume(Effect.void) })
        return Effect.sync(() => {
          // Resumed and interrupted at once: the slot must go to the next message.
          if (!connections.waiting.remove(place)) connections.resumeNext()
        })
      })

    /** Waits, which may be interrupted, until a slot is free. */
    const reserve = (
      site: Site,
      connections: SiteConnections,
      clock: Clock.Clock,
      restore: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>,
      deadline = MonotonicClock.millisOf(clock) + wait_ms,
    ): Effect.Effect<{ readonly idle?: IdleConnection }, AtCapacity> => {
      const name = site.name ?? site.key
      const now = MonotonicClock.millisOf(clock)
      const pause = Cooldown.remaining(connections.cooldown, now)
      if (pause > 0) return Effect.fail(new AtCapacity({ site: name, reason: "cooling_down", retry_after_ms: pause }))
      const reserved = connections.reserve(site.route)
      if (reserved !== undefined) return Effect.succeed(reserved)
      if (now >= deadline) return Effect.fail(new AtCapacity({ site: name, reason: "busy", retry_after_ms: wait_ms }))
      // Idle connections of other routes are closed, one for each waiting message.
      const oldest = connections.closing <= connections.waiting.size ? connections.idle.shift() : undefined
      const waited = restore(waitForSlot(site, connections, deadline))
      return Effect.flatMap(
        oldest === undefined ? waited : Effect.andThen(close(connections, oldest.connection), waited),
        () => reserve(site, connections, clock, restore, deadline),
      )
    }

    const giveBack = (
      site: Site,
      connections: SiteConnections,
      { connection, messages }: Pick<IdleConnection, "connection" | "messages">,
      now: number,
    ): Effect.Effect<void> => {
      connections.busy--
      const isUsable = connection.isUsable()
      const isReusable =
        isOpen &&
        isUsable &&
        messages < site.messages &&
        connections.open < connections.cooldown.limit &&
        Cooldown.remaining(connections.cooldown, now) === 0
      if (isUsable && !isReusable) {
        const closed = isOpen ? close(connections, connection) : connection.quit
        return Effect.andThen(
          closed,
          Effect.sync(() => connections.resumeNext()),
        )
      }
      if (isReusable) connections.idle.push({ connection, route: site.route, messages, since: now })
      else connection.destroy()
      connections.resumeNext()
      return Effect.void
    }

    /** Frees the slot again if no connection was opened. */
    const opened = (connections: SiteConnections, connect: Effect.Effect<SmtpConnection, ConnectFailed>) =>
      Effect.onError(connect, () =>
        Effect.sync(() => {
          connections.busy--
          connections.resumeNext()
        }),
      )

    const use: SitePool["use"] = (site, connect, run) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Clock.Clock, (clock) => {
          const connections = connectionsOf(site)
          const runOn = (connection: SmtpConnection, before: number) =>
            Effect.onExit(restore(Effect.suspend(() => run(connection, before > 0))), (exit) => {
              if (Exit.isFailure(exit)) connection.destroy()
              return giveBack(site, connections, { connection, messages: before + 1 }, MonotonicClock.millisOf(clock))
            })
          return Effect.flatMap(reserve(site, connections, clock, restore), ({ idle }) =>
            idle === undefined
              ? Effect.flatMap(opened(connections, restore(connect)), (connection) => runOn(connection, 0))
              : runOn(idle.connection, idle.messages),
          )
        }),
      )

    const throttled = Effect.fnUntraced(function* (site: Site) {
      const connections = connectionsOf(site)
      const now = yield* MonotonicClock.millis
      connections.cooldown = Cooldown.throttled(connections.cooldown, now)
      yield* Effect.forEach(connections.idle.splice(0), ({ connection }) => close(connections, connection), {
        discard: true,
      })
      connections.resumeAll()
      return Cooldown.remaining(connections.cooldown, now)
    })

    const accepted = (site: Site): void => {
      const connections = connectionsOf(site)
      connections.cooldown = Cooldown.accepted(connections.cooldown, site.connections)
      connections.resumeNext()
    }

    const reap = Effect.gen(function* () {
      const now = yield* MonotonicClock.millis
      for (const connections of sites.values()) {
        const stale = connections.idle.filter((idle) => now - idle.since >= idle_ms || !idle.connection.isUsable())
        for (const idle of stale) {
          connections.idle.splice(connections.idle.indexOf(idle), 1)
          yield* close(connections, idle.connection)
        }
        for (const place of connections.waiting.places) if (now >= place.item.deadline) connections.resume(place)
      }
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(Math.min(REAP_MS, idle_ms)), reap)))

    const stats = Effect.map(MonotonicClock.millis, (now) =>
      [...sites].map(([site, connections]) => ({
        site,
        busy: connections.busy,
        idle: connections.idle.length,
        limit: connections.cooldown.limit,
        paused_ms: Cooldown.remaining(connections.cooldown, now),
      })),
    )
    const isPaused: SitePool["isPaused"] = (key, now) => {
      const connections = sites.get(key)
      return connections !== undefined && Cooldown.remaining(connections.cooldown, now) > 0
    }
    return { use, throttled, accepted, isPaused, stats }
  })

const forgetUnused = (sites: Map<string, SiteConnections>): void => {
  for (const [key, connections] of sites) if (connections.isUnused) sites.delete(key)
}
