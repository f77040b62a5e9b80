import { Effect, type Redacted } from "effect"
import { createReadStream } from "node:fs"
import type pg from "pg"
import * as Copy from "../copy/Copy.ts"
import * as MigrationFiles from "../database/MigrationFiles.ts"
import * as Migrations from "../database/Migrations.ts"
import * as BackupConnection from "./BackupConnection.ts"
import * as BackupFile from "./BackupFile.ts"

export interface Restored extends BackupFile.Totals {
  readonly release: string
  readonly made_at: string
}

/** Reads a whole file and returns what it holds, or refuses it. */
export const check = (file: string) =>
  Effect.tryPromise({
    try: async () => {
      const contents = new Contents(file)
      while ((await contents.next()) !== undefined);
      return contents.restored
    },
    catch: BackupFile.refusalOf,
  })

/**
 * Restores a file into an empty database, in one transaction: each part is checked before it is used, and a file that is
 * refused leaves nothing. A file of an earlier release is migrated to this one.
 */
export const restore = Effect.fn("Restore.restore")(function* (url: Redacted.Redacted, file: string) {
  const { of, ...restored } = yield* BackupConnection.use(url, (client) => load(client, new Contents(file)))
  yield* Migrations.migrate(url, MigrationFiles.FOLDER, of)
  return restored satisfies Restored
})

const load = async (client: pg.Client, contents: Contents) => {
  // A function is made before what it mentions.
  await client.query("SET check_function_bodies = off")
  await client.query("BEGIN")
  await refuseUsed(client)
  for (let part = await contents.next(); part !== undefined;) {
    if (part.kind === "header") await requireKnown(part.header)
    if (part.kind === "statement") await client.query(part.text)
    if (part.kind !== "copy") {
      part = await contents.next()
      continue
    }
    const rows = contents.rows()
    await Copy.intoFrom(client, part.text, rows)
    part = contents.last
  }
  const { restored } = contents
  await client.query("COMMIT")
  // Without statistics the first queries would read whole tables.
  await client.query("ANALYZE")
  const home = await client.query("SELECT FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('public.cells')")
  return { ...restored, of: home.rows.length === 0 ? "cell" : "home" } as const
}

/** The parts of a file, one after another. */
class Contents {
  /** The part that was read last. */
  last: BackupFile.Part | undefined
  readonly #parts: AsyncGenerator<BackupFile.Part>
  #header: BackupFile.Header | undefined
  #totals: BackupFile.Totals = { tables: 0, row_bytes: 0 }

  constructor(file: string) {
    this.#parts = BackupFile.read(createReadStream(file))
  }

  async next(): Promise<BackupFile.Part | undefined> {
    const { done, value } = await this.#parts.next()
    this.last = done === true ? undefined : value
    if (this.last?.kind === "header") this.#header = this.last.header
    if (this.last?.kind === "end") this.#totals = this.last.totals
    return this.last
  }

  /** Yields the rows that follow, up to the part after them. */
  async *rows(): AsyncGenerator<Buffer> {
    for (let part = await this.next(); part?.kind === "rows"; part = await this.next()) yield part.bytes
  }

  get restored(): Restored {
    const { made_at = "", release = "" } = this.#header ?? {}
    return { release, made_at, ...this.#totals }
  }
}

/** Refuses a database that has anything in it: a restore adds to nothing, and replaces nothing. */
const refuseUsed = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ readonly name: string }>(`
    SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
      AND c.relpersistence <> 't'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY 1 LIMIT 1`)
  const [found] = rows
  if (found !== undefined)
    throw new BackupFile.BackupRefused({
      message: `the database is not empty: it has ${found.name}. Restore into an empty database, or into a new data folder`,
    })
  // From here on every name is written with its schema.
  await client.query(BackupConnection.SESSION)
}

const requireKnown = async ({ migrations, release }: BackupFile.Header): Promise<void> => {
  const known = await MigrationFiles.namesIn(MigrationFiles.FOLDER)
  const unknown = migrations.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new BackupFile.BackupRefused({
      message: `the backup is of the newer release ${release} (${unknown.join(", ")}): restore it with that release`,
    })
}
