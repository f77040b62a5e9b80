import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import pg from "pg"
import type { TestProject } from "vitest/node"
import { memoryFolder } from "../memoryFolder.ts"
import { onDatabase } from "./databaseUrl.ts"
import { prepareTemplate } from "./prepareTemplate.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Address of a role that may create databases, on an existing database. */
    readonly postgresUrl: string
    /** Address of the superuser; the same role where the server is not started by the tests. */
    readonly postgresAdminUrl: string
    /** Addresses of the other nodes of the cluster, each with a part of every database. */
    readonly postgresNodes: ReadonlyArray<string>
    readonly templateDatabase: string
    /**
     * Reason why the template is unusable, else empty, so that a broken migration fails only tests that need a
     * database.
     */
    readonly templateProblem: string
    /** Folder for the data of servers of cells, from which each worker copies its own. */
    readonly cellFolder: string
  }
}

const startServer = Effect.gen(function* () {
  const folder = yield* Effect.promise(() => memoryFolder("test"))
  const settings = {
    // Several files run at the same time, and each starts several services.
    max_connections: "300",
    max_wal_size: "512MB",
    // Tests that read plans analyze their tables; for all others it would look into hundreds of short-lived databases.
    autovacuum: "off",
  }
  return yield* EmbeddedPostgres.start({ dataDir: folder, scratch: true, settings })
})

const execute = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Compile cache of the tests, beside that of `bin/launch.mjs`; most of a process's start is compilation. */
const COMPILED = path.join(import.meta.dirname, "../../../node_modules/.cache/waybill")

/**
 * Bundles the service for the processes that tests start, while Postgres starts. They run it at once, because a look at all
 * sources, whether they are still those of the bundle, takes a tenth of the processor time of a command.
 */
const bundle = async (): Promise<void> => {
  const { href } = new URL("../../../bin/bundle.mjs", import.meta.url)
  const { ensureBundle, entry } = (await import(href)) as {
    readonly ensureBundle: () => Promise<void>
    readonly entry: () => string
  }
  await ensureBundle()
  process.env["WAYBILL_TEST_MAIN"] = entry()
}

/** Starts one server per run, with one template from which each test file gets a database of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  // Inherited by the workers of this run and by every process that they start.
  process.env["NODE_COMPILE_CACHE"] ??= COMPILED
  const bundled = bundle()
  try {
    const outside = process.env["WAYBILL_TEST_DATABASE_URL"]
    const server = outside === undefined ? await Effect.runPromise(Scope.provide(startServer, scope)) : undefined
    const url = server === undefined ? outside : Redacted.value(server.url)
    if (url === undefined) throw new Error("no server to test on")
    // Several runs may share a server outside.
    const template = `waybill_template_${randomBytes(4).toString("hex")}`
    await execute(url, `CREATE DATABASE ${template}`)
    const problem = await prepareTemplate(Redacted.make(onDatabase(url, template))).then(
      () => "",
      (cause) => String(cause),
    )
    await bundled
    project.provide("postgresUrl", url)
    project.provide("postgresAdminUrl", server === undefined ? url : Redacted.value(server.adminUrl))
    project.provide("postgresNodes", [])
    project.provide("templateDatabase", template)
    project.provide("templateProblem", problem)
    const cellFolder = await memoryFolder("cells")
    await fs.chmod(cellFolder, 0o711)
    project.provide("cellFolder", cellFolder)
    return async () => {
      await fs.rm(cellFolder, { recursive: true, force: true })
      if (server === undefined) await execute(url, `DROP DATABASE ${template} WITH (FORCE)`)
      await close()
    }
  } catch (cause) {
    await close()
    throw cause
  }
}
