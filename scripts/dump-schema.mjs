// npm run schema: writes db/schema.sql from what the migrations make of an empty database.
import * as EmbeddedPostgres from "@waybill/embedded-postgres/EmbeddedPostgres"
import * as Migrations from "@waybill/store/Migrations"
import { Effect, Redacted } from "effect"
import { chmod, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dumpSchema } from "../test/support/schemaDump.ts"

const file = join(import.meta.dirname, "..", "db", "schema.sql")

const program = Effect.gen(function* () {
  const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-schema-")))
  // As root the server runs as somebody else, who must be able to pass through.
  yield* Effect.promise(() => chmod(folder, 0o711))
  const server = yield* EmbeddedPostgres.start({ dataDir: folder, scratch: true })
  yield* Migrations.migrate(server.url)
  const text = yield* Effect.promise(() => dumpSchema(Redacted.value(server.url)))
  yield* Effect.promise(() => writeFile(file, text))
})

await Effect.runPromise(Effect.scoped(program))
process.stdout.write("db/schema.sql is written\n")
