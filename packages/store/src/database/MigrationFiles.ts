import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { splitStatements } from "./splitStatements.ts"

export const FOLDER = fileURLToPath(new URL("../../../../db/migrations/", import.meta.url))

/**
 * Where statements of a migration run: `every` in each cell, `server` once for each server and each cell on a node of Citus,
 * `database` once in each database that is not a node's, `home` only where the list of cells is.
 */
export type Place = "every" | "server" | "database" | "home"

/** The line above the statements of a place. Those above the first one are of home. */
const PLACE = /^-- cells: (every|server|database|home)$/mu

export interface MigrationFile {
  readonly name: string
  readonly statements: ReadonlyArray<{ readonly place: Place; readonly sql: string }>
}

export const parse = (name: string, text: string): MigrationFile => {
  const parts = ["home", ...text.split(PLACE)]
  const statements = parts.flatMap((part, nth) =>
    nth % 2 === 0 ? [] : splitStatements(part).map((sql) => ({ place: parts[nth - 1] as Place, sql })),
  )
  return { name, statements }
}

/** Returns the statements of a file, or of all, that run at some places. */
export const at = ({ statements }: Pick<MigrationFile, "statements">, ...places: ReadonlyArray<Place>) =>
  statements.filter(({ place }) => places.includes(place)).map(({ sql }) => sql)

/** Returns the names of the migrations in a folder, in their order. */
export const namesIn = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted()

/** Reads the migrations of a folder, in their order. */
export const read = async (folder = FOLDER): Promise<ReadonlyArray<MigrationFile>> =>
  Promise.all((await namesIn(folder)).map(async (name) => parse(name, await readFile(join(folder, name), "utf8"))))

/** Reads the names of the tables that belong to no account, or that find one. All others are in every cell. */
export const homeTables = async (): Promise<ReadonlyArray<string>> => {
  const files = await read()
  const made = (...places: ReadonlyArray<Place>) =>
    files.flatMap((file) => at(file, ...places).flatMap((sql) => MADE.exec(sql)?.[1] ?? []))
  const every = new Set(made("every"))
  return made("home", "server").filter((name) => !every.has(name))
}

const MADE = /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/mu
