import * as CellName from "@waybill/store/routing/CellName"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import type { CellServer } from "@waybill/store/routing/CellKeys"
import { Cells } from "@waybill/store/routing/Cells"
import * as Reachable from "@waybill/store/routing/Reachable"
import * as Database from "@waybill/store/database/Database"
import type * as LogExport from "@waybill/store/exports/LogExport"
import * as MovedSince from "@waybill/store/moves/MovedSince"
import * as Migrations from "@waybill/store/database/Migrations"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { Postgres } from "../../installation/Postgres.ts"
import * as InstanceKeys from "../../installation/InstanceKeys.ts"
import * as Settings from "../../settings/Settings.ts"

/** Cells of the database, and its URL for the connections of replays in them. */
export class CellReplays extends Context.Service<
  CellReplays,
  {
    readonly url: Redacted.Redacted
    /** Names of all cells, the first one first. */
    readonly names: ReadonlyArray<CellName.CellName>
    /** The cells with a server of their own, or on a node of Citus. */
    readonly servers: ReadonlyMap<CellName.CellName, CellServer>
  }
>()("@waybill/server/cli/cells/CellReplays") {}

const on = <E, F>(
  postgres: (settings: Settings.Settings) => Layer.Layer<Postgres, E>,
  prepare: (url: Redacted.Redacted) => Effect.Effect<unknown, F>,
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* Settings.load
      const cells = Effect.gen(function* () {
        const { url } = yield* Postgres
        yield* prepare(url)
        return { url, ...(yield* Effect.provide(listed, Database.layer({ url, connections: 1 }))) }
      })
      return Layer.effect(CellReplays, cells).pipe(
        Layer.provide(postgres(settings)),
        Layer.provide(InstanceKeys.cellKeysHere(settings)),
      )
    }),
  )

const listed = Effect.gen(function* () {
  const { names, serverOf } = yield* Cells
  const cells = yield* names
  const servers = yield* Effect.forEach(cells, (cell) =>
    Effect.map(serverOf(cell), (server) => (server === undefined ? [] : [[cell, server] as const])),
  )
  return { names: cells, servers: new Map(servers.flat()) }
})

/** Replays on the database of the service. */
export const layer = on(Postgres.layer, Migrations.requireCurrent)
/** Replays on a new embedded database, if there is none. */
export const layerOrMake = on(Postgres.layerOrMake, Migrations.migrate)

/** Returns the named cell, or else all. */
export const chosen = Effect.fnUntraced(function* (named: Option.Option<string>) {
  const { names } = yield* CellReplays
  if (Option.isNone(named)) return names
  if (names.includes(named.value)) return [named.value]
  return yield* new CellSchema.CellRefused({
    message: `there is no cell ${named.value}; the cells are ${names.join(", ")}`,
  })
})

/** Opens the logs of all cells, until the scope closes. */
export const logs = Effect.gen(function* () {
  const { names, servers } = yield* CellReplays
  return yield* Effect.forEach(names, (cell) =>
    Effect.map(opened(cell), ({ log, sql }): LogExport.CellLog => {
      return { cell, sql, log, isApart: servers.get(cell)?.isNode === false }
    }),
  )
})

const layerOf = (cell: CellName.CellName) =>
  Layer.unwrap(
    Effect.map(CellReplays, ({ servers, url }) => {
      const server = servers.get(cell)
      const schemaUrl = CellName.urlOf(url, cell)
      if (server === undefined) return Replay.layer(schemaUrl)
      return server.isNode ? Replay.layer(schemaUrl, server.url) : Replay.layer(server.url)
    }),
  )

const opened = Effect.fnUntraced(function* (cell: CellName.CellName) {
  return Context.get(yield* Layer.build(layerOf(cell)), Replay)
})

/** Runs work with the connections of a cell. */
export const inCell = Effect.fnUntraced(function* <A, E, R>(cell: CellName.CellName, work: Effect.Effect<A, E, R>) {
  const { servers, url } = yield* CellReplays
  const here = Effect.provide(work, layerOf(cell))
  const server = servers.get(cell)
  // Otherwise the connection itself reaches the directory.
  if (server === undefined || server.isNode) return yield* here
  const atHome = Effect.flatMap(Replay, ({ sql: home }) =>
    Effect.provideService(here, MovedSince.DirectoryOfCell, { home, cell }),
  )
  return yield* Effect.provide(atHome, Replay.layer(url))
})

/** Runs work with the connections of each cell that answers, one after the other. */
export const inEach = Effect.fnUntraced(function* <A, E, R>(
  cells: ReadonlyArray<CellName.CellName>,
  work: (cell: CellName.CellName) => Effect.Effect<A, E, R>,
) {
  const replays = yield* CellReplays
  return yield* Reachable.inEach(
    cells.map((cell) => ({
      name: cell,
      answers: inCell(
        cell,
        Effect.flatMap(Replay, ({ sql }) => Reachable.doesAnswer(sql)),
      ).pipe(
        Effect.provideService(CellReplays, replays),
        Effect.catch(() => Effect.succeed(false)),
      ),
      work: inCell(cell, work(cell)),
    })),
  )
})
