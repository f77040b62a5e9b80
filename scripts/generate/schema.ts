import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Redacted } from "effect"
import { chmod, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { dumpSchema } from "../../test/support/postgres/schemaDump.ts"

export const FILE = fileURLToPath(new URL("../../db/schema.sql", import.meta.url))

const program = Effect.gen(function* () {
  const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-schema-")))
  // For root the server runs as another user, who must be able to enter the folder.
  yield* Effect.promise(() => chmod(folder, 0o711))
  const server = yield* EmbeddedPostgres.start({ dataDir: folder, scratch: true })
  yield* Migrations.migrate(server.url)
  return yield* Effect.promise(() => dumpSchema(Redacted.value(server.url)))
})

/** Returns the schema that all migrations make of an empty database. */
export const written = (): Promise<string> => Effect.runPromise(Effect.scoped(program))
