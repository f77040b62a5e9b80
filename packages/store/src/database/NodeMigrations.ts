import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type pg from "pg"
import { splitStatements } from "../postgres/splitStatements.ts"
import { type CellName, hereOf } from "../routing/CellName.ts"
import * as Migrations from "./Migrations.ts"

/** First line of a file that changes only tables which every server and every cell on a node has for itself. */
export const EVERY_SERVER = "-- cells: server\n"
const LOCK_TIMEOUT = "10s"

interface File {
  readonly name: string
  readonly text: string
}

/** Returns the migrations of these tables. */
export const filesOf = async (folder: string): Promise<ReadonlyArray<File>> => {
  const names = await Migrations.filesOf(folder)
  const files = await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(join(folder, name), "utf8") })),
  )
  return files.filter(({ text }) => text.startsWith(EVERY_SERVER))
}

/** Returns the names of the migrations that the tables of a cell at its node lack. */
export const pendingIn = async (client: pg.Client, cell: CellName, folder = Migrations.FOLDER) =>
  (await lacking(client, cell, await filesOf(folder))).map(({ name }) => name)

/** Records in new tables that they have all migrations. */
export const recordAll = async (client: pg.Client, folder = Migrations.FOLDER): Promise<void> => {
  const names = (await filesOf(folder)).map(({ name }) => name)
  await client.query("INSERT INTO schema_migrations (name) SELECT unnest($1::text[])", [names])
}

/**
 * Migrates the tables that a cell has at its node alone, of which the coordinator does not know. All pending files are applied, or
 * none. Returns their names.
 */
export const migrate = async (
  client: pg.Client,
  cell: CellName,
  folder = Migrations.FOLDER,
): Promise<ReadonlyArray<string>> => {
  const files = await filesOf(folder)
  if ((await lacking(client, cell, files)).length === 0) return []
  await client.query("BEGIN")
  await client.query(`SET LOCAL citus.enable_ddl_propagation = off; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
  await client.query(`LOCK TABLE ${hereOf(cell)}.schema_migrations IN SHARE ROW EXCLUSIVE MODE`)
  const pending = await lacking(client, cell, files)
  await client.query(`SET LOCAL search_path = ${hereOf(cell)}`)
  for (const { name, text } of pending) {
    for (const statement of splitStatements(text))
      await client.query(statement).catch((cause: unknown) => Promise.reject(Migrations.failureOf(name, cell, cause)))
    await client.query("INSERT INTO schema_migrations (name) VALUES ($1)", [name])
  }
  await client.query("COMMIT")
  return pending.map(({ name }) => name)
}

const lacking = async (client: pg.Client, cell: CellName, files: ReadonlyArray<File>): Promise<ReadonlyArray<File>> => {
  if (files.length === 0) return files
  const { rows } = await client.query<{ readonly name: string }>(`SELECT name FROM ${hereOf(cell)}.schema_migrations`)
  const applied = new Set(rows.map(({ name }) => name))
  return files.filter(({ name }) => !applied.has(name))
}
