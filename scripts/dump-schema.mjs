// npm run schema: applies all migrations to an empty database and writes db/schema.sql.
import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Migrations from "@waybill/store/database/Migrations"
import { Effect, Redacted } from "effect"
import { chmod, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dumpSchema } from "../test/support/postgres/schemaDump.ts"

const file = join(import.meta.dirname, "..", "db", "schema.sql")

const program = Effect.gen(function* () {
  const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-schema-")))
  // For root the server runs as another user, who must be able to enter the folder.
  yield* Effect.promise(() => chmod(folder, 0o711))
  const server = yield* EmbeddedPostgres.start({ dataDir: folder, scratch: true })
  yield* Migrations.migrate(server.url)
  const text = yield* Effect.promise(() => dumpSchema(Redacted.value(server.url)))
  yield* Effect.promise(() => writeFile(file, text))
})

await Effect.runPromise(Effect.scoped(program))
process.stdout.write("wrote db/schema.sql\n")
