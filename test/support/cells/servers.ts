import * as EmbeddedPostgres from "@waybill/embedded-postgres/EmbeddedPostgres"
import { Effect, Exit, type Redacted, Scope } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A Postgres of a cell, whose server a test may stop, freeze and start again. */
export interface CellServer {
  readonly url: () => Redacted.Redacted
  readonly pid: () => number
  readonly dataDir: string
  readonly running: () => EmbeddedPostgres.Running
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
}

/** Starts a server of npm's Postgres, with an empty database, until the scope closes. */
export const make = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await fs.mkdtemp(join(tmpdir(), "waybill-cell-"))
      await fs.chmod(folder, 0o711)
      return folder
    }),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
  )
  const scope = yield* Scope.fork(yield* Effect.scope, "sequential")
  let run: { readonly scope: Scope.Closeable; readonly server: EmbeddedPostgres.Running } | undefined
  const start = Effect.gen(function* () {
    if (run !== undefined) return
    const own = yield* Scope.fork(scope, "sequential")
    const server = yield* Scope.provide(
      EmbeddedPostgres.start({ dataDir, settings: { fsync: "off", shared_buffers: "32MB" } }),
      own,
    )
    run = { scope: own, server }
  }).pipe(Effect.orDie)
  const stop = Effect.suspend(() => {
    const former = run
    run = undefined
    return former === undefined ? Effect.void : Scope.close(former.scope, Exit.void)
  })
  yield* start
  const running = () => {
    if (run === undefined) throw new Error("the server does not run")
    return run.server
  }
  // Its address lasts, also while it is stopped.
  const { url } = running()
  return {
    url: () => run?.server.url ?? url,
    pid: () => running().pid,
    dataDir: join(dataDir, "cluster"),
    running,
    start,
    stop,
  } satisfies CellServer
})
