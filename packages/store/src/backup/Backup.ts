import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect, type Redacted } from "effect"
import * as fs from "node:fs"
import { rename, rm } from "node:fs/promises"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type pg from "pg"
import * as Copy from "../copy/Copy.ts"
import * as BackupConnection from "./BackupConnection.ts"
import * as BackupFile from "./BackupFile.ts"
import * as SchemaStatements from "./SchemaStatements.ts"

/** Suffix of a file that is being written. */
export const UNFINISHED = ".unfinished"
/** The file contains every address that mail was sent to. */
const OWNER_ONLY = 0o600

/** Contents of a backup, and the cells that are not in it because they have a server of their own. */
export interface Made extends BackupFile.Totals {
  readonly bytes: number
  readonly elsewhere: ReadonlyArray<string>
}

/**
 * Writes the database to a file, as it is at one moment, while the service runs. The file has its name only once it is
 * complete and on the disk.
 */
export const make = (url: Redacted.Redacted, file: string, release: string) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    BackupConnection.use(url, async (client, signal) => {
      const unfinished = `${file}${UNFINISHED}`
      if (await isThere(file)) throw new BackupFile.BackupRefused({ message: `there is a file ${file} already` })
      const made = { tables: 0, row_bytes: 0 }
      await client.query(BackupConnection.SESSION)
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      const { elsewhere, migrations } = await readState(client)
      const header: BackupFile.Header = { waybill_backup: 1, release, made_at: Timestamp.fromMillis(now), migrations }
      try {
        await pipeline(
          Readable.from(BackupFile.written(partsOf(client, header, made))),
          fs.createWriteStream(unfinished, { flags: "wx", mode: OWNER_ONLY, flush: true }),
          { signal },
        )
        const { size } = await fs.promises.stat(unfinished)
        await rename(unfinished, file)
        return { ...made, bytes: size, elsewhere } satisfies Made
      } catch (cause) {
        if (!isTaken(cause)) await rm(unfinished, { force: true })
        throw cause
      }
    }),
  )

const isThere = (file: string): Promise<boolean> =>
  fs.promises.access(file).then(
    () => true,
    () => false,
  )

const isTaken = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "EEXIST"

const readState = async (client: pg.Client) => {
  const exists = async (name: string) =>
    (await client.query("SELECT FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)", [name])).rows.length >
    0
  if (!(await exists("public.schema_migrations")))
    throw new BackupFile.BackupRefused({ message: "the database is empty: there is nothing to back up" })
  const citus = await client.query("SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus'")
  if (citus.rows.length > 0)
    throw new BackupFile.BackupRefused({
      message: "the database is a cluster of Citus, which is backed up node by node: see docs/operating/citus.md",
    })
  const names = async (query: string) =>
    (await client.query<{ readonly name: string }>(query)).rows.map(({ name }) => name)
  return {
    migrations: await names("SELECT name FROM public.schema_migrations ORDER BY name"),
    elsewhere: (await exists("public.cells"))
      ? await names("SELECT name FROM public.cells WHERE address IS NOT NULL ORDER BY name")
      : [],
  }
}

async function* partsOf(
  client: pg.Client,
  header: BackupFile.Header,
  made: { tables: number; row_bytes: number },
): AsyncGenerator<BackupFile.Part> {
  yield { kind: "header", header }
  const { after, before, tables } = await SchemaStatements.read(client)
  // Nothing may drop a table that is not read yet.
  if (tables.length > 0)
    await client.query(`LOCK TABLE ${tables.map(({ name }) => `ONLY ${name}`).join(", ")} IN ACCESS SHARE MODE`)
  for (const text of before) yield { kind: "statement", text }
  for (const { into, out } of tables) {
    yield { kind: "copy", text: into }
    made.tables++
    for await (const bytes of Copy.rowsOf(client, out)) {
      made.row_bytes += bytes.length
      yield { kind: "rows", bytes }
    }
  }
  for (const text of after) yield { kind: "statement", text }
  yield { kind: "end", totals: made }
}
