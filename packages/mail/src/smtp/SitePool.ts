import { Effect, Exit, Schema, type Scope } from "effect"
import * as Cooldown from "./Cooldown.ts"
import type { ConnectFailed, SmtpConnection } from "./SmtpConnection.ts"
import * as SteadyClock from "@waybill/domain/values/SteadyClock"

/** Time that a connection may stay idle; servers tend to hang up after one to five minutes. */
export const IDLE_MS = 20_000
export const REAP_MS = 5_000
/** Time that a message waits for a connection to a busy site before it is put back, rounded to the next check. */
export const WAIT_MS = 20_000
/** Maximum number of sites that a process remembers; beyond it, those without connections and pauses are forgotten. */
export const SITES = 10_000

/** Provider or domain that the limits protect, with the servers among which connections may be shared. */
export interface Site {
  readonly key: string
  /** Connections are reused only within one route: two customers of one provider may have different servers. */
  readonly route: string
  readonly connections: number
  readonly messages: number
}

/** The site asked for a pause, or all its connections are in use: nothing was tried. */
export class Held extends Schema.TaggedError<Held>()("Held", {
  site: Schema.String,
  reason: Schema.Literals(["cooling_down", "busy"]),
  retry_after_ms: Schema.Number,
}) {
  override get message() {
    return this.reason === "busy"
      ? `all connections to ${this.site} are taken`
      : `${this.site} asked for a pause of ${Math.ceil(this.retry_after_ms / 1000)} s more`
  }
}

export interface SitePool {
  /**
   * Runs on a connection of the pool, or a new one. `reused` says that the server may have hung up unnoticed.
   * Interruption drops the connection.
   */
  readonly use: <A>(
    site: Site,
    connect: Effect.Effect<SmtpConnection, ConnectFailed>,
    run: (connection: SmtpConnection, reused: boolean) => Effect.Effect<A>,
  ) => Effect.Effect<A, ConnectFailed | Held>
  /** Records a complaint and returns how long the site is left alone from now on. */
  readonly throttled: (site: Site) => Effect.Effect<number>
  readonly accepted: (site: Site) => Effect.Effect<void>
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

interface Idle {
  readonly connection: SmtpConnection
  readonly route: string
  readonly messages: number
  readonly since: number
}

interface State {
  busy: number
  /** Connections that are sending QUIT; the server still counts them. */
  leaving: number
  readonly idle: Array<Idle>
  /** Waiting messages, the first first, each with the time at which it gives up. */
  readonly waiting: Map<() => void, number>
  cooldown: Cooldown.Cooldown
}

/** Closing the scope sends QUIT on idle connections; connections in use belong to their users. */
export const make = (
  options: { readonly idle_ms?: number; readonly wait_ms?: number } = {},
): Effect.Effect<SitePool, never, Scope.Scope> =>
  Effect.gen(function* () {
    const idle_ms = options.idle_ms ?? IDLE_MS
    const wait_ms = options.wait_ms ?? WAIT_MS
    const states = new Map<string, State>()
    const scope = yield* Effect.scope
    let open = true
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        open = false
        const idle = [...states.values()].flatMap((state) => state.idle.splice(0))
        return Effect.forEach(idle, ({ connection }) => connection.quit, { concurrency: "unbounded", discard: true })
      }),
    )

    const stateOf = (site: Site): State => {
      const known = states.get(site.key)
      if (known !== undefined) return known
      if (states.size >= SITES) forgetQuiet(states)
      const state: State = {
        busy: 0,
        leaving: 0,
        idle: [],
        waiting: new Map(),
        cooldown: Cooldown.start(site.connections),
      }
      states.set(site.key, state)
      return state
    }
    const leave = (state: State, connection: SmtpConnection) =>
      Effect.suspend(() => {
        state.leaving++
        const left = Effect.sync(() => {
          // The pool may be closed before QUIT is sent.
          connection.destroy()
          state.leaving--
          wake(state)
        })
        return Effect.asVoid(Effect.forkIn(Effect.ensuring(connection.quit, left), scope))
      })
    const wake = (state: State, all = false) => {
      for (const resume of state.waiting.keys()) {
        state.waiting.delete(resume)
        resume()
        if (!all) return
      }
    }

    const taken = (state: State) => state.busy + state.leaving + state.idle.length

    /** Reserves a connection slot, with an idle connection of the route if there is one. */
    const seize = (site: Site, state: State): { readonly idle: Idle | undefined } | undefined => {
      for (let at = state.idle.length - 1; at >= 0; at--) {
        const idle = state.idle[at]
        if (idle === undefined || idle.route !== site.route) continue
        state.idle.splice(at, 1)
        if (!idle.connection.isUsable()) {
          idle.connection.destroy()
          continue
        }
        state.busy++
        return { idle }
      }
      if (taken(state) >= state.cooldown.limit) return undefined
      state.busy++
      return { idle: undefined }
    }

    const place = Effect.fnUntraced(function* (site: Site, state: State) {
      const deadline = (yield* SteadyClock.millis) + wait_ms
      while (true) {
        const now = yield* SteadyClock.millis
        const pause = Cooldown.remaining(state.cooldown, now)
        if (pause > 0) return yield* new Held({ site: site.key, reason: "cooling_down", retry_after_ms: pause })
        const seized = seize(site, state)
        if (seized !== undefined) return seized
        if (now >= deadline) return yield* new Held({ site: site.key, reason: "busy", retry_after_ms: wait_ms })
        // Idle connections of other routes are closed, one for each waiting message.
        const oldest = state.leaving <= state.waiting.size ? state.idle.shift() : undefined
        if (oldest !== undefined) yield* leave(state, oldest.connection)
        yield* Effect.callback<void>((resume) => {
          const woken = () => resume(Effect.void)
          // A slot may have become free since the last check.
          if (taken(state) < state.cooldown.limit) return woken()
          state.waiting.set(woken, deadline)
          return Effect.sync(() => {
            // Woken and interrupted at once: the slot must go to the next message.
            if (!state.waiting.delete(woken)) wake(state)
          })
        })
      }
    })

    const giveBack = Effect.fnUntraced(function* (
      site: Site,
      state: State,
      connection: SmtpConnection,
      messages: number,
    ) {
      const now = yield* SteadyClock.millis
      state.busy--
      const keeps =
        open &&
        connection.isUsable() &&
        messages < site.messages &&
        taken(state) < state.cooldown.limit &&
        Cooldown.remaining(state.cooldown, now) === 0
      if (keeps) state.idle.push({ connection, route: site.route, messages, since: now })
      else if (connection.isUsable() && open) yield* leave(state, connection)
      else if (connection.isUsable()) yield* connection.quit
      else connection.destroy()
      wake(state)
    })

    const use: SitePool["use"] = (site, connect, run) =>
      Effect.uninterruptibleMask(
        Effect.fnUntraced(function* (restore) {
          const state = stateOf(site)
          const seized = yield* restore(place(site, state))
          const connection =
            seized.idle?.connection ??
            (yield* restore(connect).pipe(
              Effect.onError(() =>
                Effect.sync(() => {
                  state.busy--
                  wake(state)
                }),
              ),
            ))
          return yield* restore(run(connection, seized.idle !== undefined)).pipe(
            Effect.onExit((exit) => {
              if (Exit.isFailure(exit)) connection.destroy()
              return giveBack(site, state, connection, (seized.idle?.messages ?? 0) + 1)
            }),
          )
        }),
      )

    const throttled = Effect.fnUntraced(function* (site: Site) {
      const state = stateOf(site)
      const now = yield* SteadyClock.millis
      state.cooldown = Cooldown.throttled(state.cooldown, now)
      yield* Effect.forEach(state.idle.splice(0), ({ connection }) => leave(state, connection), { discard: true })
      wake(state, true)
      return Cooldown.remaining(state.cooldown, now)
    })

    const accepted = (site: Site) =>
      Effect.sync(() => {
        const state = stateOf(site)
        state.cooldown = Cooldown.accepted(state.cooldown, site.connections)
        wake(state)
      })

    const reap = Effect.gen(function* () {
      const now = yield* SteadyClock.millis
      for (const state of states.values()) {
        const stale = state.idle.filter((idle) => now - idle.since >= idle_ms || !idle.connection.isUsable())
        for (const idle of stale) {
          state.idle.splice(state.idle.indexOf(idle), 1)
          yield* leave(state, idle.connection)
        }
        for (const [resume, deadline] of state.waiting) {
          if (now < deadline) continue
          state.waiting.delete(resume)
          resume()
        }
      }
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(Math.min(REAP_MS, idle_ms)), reap)))

    const stats = Effect.map(SteadyClock.millis, (now) =>
      [...states].map(([site, state]) => ({
        site,
        busy: state.busy,
        idle: state.idle.length,
        limit: state.cooldown.limit,
        paused_ms: Cooldown.remaining(state.cooldown, now),
      })),
    )
    return { use, throttled, accepted, stats }
  })

const forgetQuiet = (states: Map<string, State>): void => {
  for (const [key, state] of states) {
    if (state.busy + state.leaving + state.idle.length + state.waiting.size === 0 && state.cooldown.paused_until === 0)
      states.delete(key)
  }
}
