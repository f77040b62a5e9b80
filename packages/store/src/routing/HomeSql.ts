import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Sql from "../postgres/Sql.ts"
import { FIRST } from "./CellName.ts"
import { inCell } from "./CurrentCell.ts"

const clients = new WeakMap<PgClient.PgClient, Sql.Sql>()

const of = (driver: PgClient.PgClient): Sql.Sql => {
  const known = clients.get(driver)
  if (known !== undefined) return known
  const made = Sql.make(driver, (work) => inCell(FIRST, work))
  clients.set(driver, made)
  return made
}

/** The store's client for the tables that belong to no account, whichever cell the fiber works in. */
export const HomeSql: Effect.Effect<Sql.Sql, never, PgClient.PgClient> = Effect.map(PgClient.PgClient, of)
