import type pg from "pg"
import { type CellName, hereOf } from "../routing/CellName.ts"
import * as MigrationFiles from "./MigrationFiles.ts"
import * as Migrations from "./Migrations.ts"

const LOCK_TIMEOUT = "10s"

interface ServerFile {
  readonly name: string
  readonly statements: ReadonlyArray<string>
}

/** Returns the migrations of tables that every server, and every cell on a node, has for itself. */
export const filesOf = async (folder = MigrationFiles.FOLDER): Promise<ReadonlyArray<ServerFile>> =>
  (await MigrationFiles.read(folder))
    .map((file) => ({ name: file.name, statements: MigrationFiles.at(file, "server") }))
    .filter(({ statements }) => statements.length > 0)

/** Returns the names of the migrations that the tables of a cell at its node lack. */
export const pendingIn = async (client: pg.Client, cell: CellName, folder = MigrationFiles.FOLDER) =>
  (await lacking(client, cell, await filesOf(folder))).map(({ name }) => name)

/**
 * Migrates the tables that a cell has at its node alone, of which the coordinator does not know. All pending files are applied, or
 * none. Returns their names.
 */
export const migrate = async (
  client: pg.Client,
  cell: CellName,
  folder = MigrationFiles.FOLDER,
): Promise<ReadonlyArray<string>> => {
  const files = await filesOf(folder)
  if ((await lacking(client, cell, files)).length === 0) return []
  await client.query("BEGIN")
  await client.query(`SET LOCAL citus.enable_ddl_propagation = off; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
  await client.query(`LOCK TABLE ${hereOf(cell)}.schema_migrations IN SHARE ROW EXCLUSIVE MODE`)
  const pending = await lacking(client, cell, files)
  await client.query(`SET LOCAL search_path = ${hereOf(cell)}`)
  await apply(client, cell, pending)
  await client.query("COMMIT")
  return pending.map(({ name }) => name)
}

/** Applies files in the schema that comes first in the search path of the transaction. */
export const apply = async (client: pg.Client, cell: CellName, files: ReadonlyArray<ServerFile>): Promise<void> => {
  for (const { name, statements } of files) {
    for (const statement of statements)
      await client.query(statement).catch((cause: unknown) => Promise.reject(Migrations.failureOf(name, cell, cause)))
    await client.query("INSERT INTO schema_migrations (name) VALUES ($1)", [name])
  }
}

const lacking = async (
  client: pg.Client,
  cell: CellName,
  files: ReadonlyArray<ServerFile>,
): Promise<ReadonlyArray<ServerFile>> => {
  if (files.length === 0) return files
  const { rows } = await client.query<{ readonly name: string }>(`SELECT name FROM ${hereOf(cell)}.schema_migrations`)
  const applied = new Set(rows.map(({ name }) => name))
  return files.filter(({ name }) => !applied.has(name))
}
