import * as EmbeddedPostgres from "@waybill/embedded-postgres/EmbeddedPostgres"
import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import pg from "pg"
import type { TestProject } from "vitest/node"
import { onDatabase } from "./databaseUrl.ts"
import { prepareTemplate } from "./prepareTemplate.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** A role that may create databases, on a database that exists. */
    readonly postgresUrl: string
    /** The superuser, or the same role where the server is not ours. */
    readonly postgresAdminUrl: string
    readonly templateDatabase: string
    /** Why the template is not usable, if it is not: a bad migration must not fail the tests that need no database. */
    readonly templateProblem: string
  }
}

const startServer = Effect.gen(function* () {
  const folder = yield* Effect.promise(() => fs.mkdtemp(path.join(os.tmpdir(), "waybill-test-")))
  // Several files at a time start several services each.
  const settings = { max_connections: "300" }
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

/** Beside what `bin/launch.mjs` keeps: most of the time that a process takes to start goes into compiling. */
const COMPILED = path.join(import.meta.dirname, "../../../node_modules/.cache/waybill")

/** For every process of the service that a test starts. Done while Postgres starts. */
const bundle = async (): Promise<void> => {
  const { href } = new URL("../../../bin/bundle.mjs", import.meta.url)
  const { ensureBundle } = (await import(href)) as { readonly ensureBundle: () => Promise<void> }
  await ensureBundle()
}

/** One server a run, and in it one template from which each test file gets a database of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  // For the workers of this run and for every process that they start.
  process.env["NODE_COMPILE_CACHE"] ??= COMPILED
  const bundled = bundle()
  try {
    const outside = process.env["WAYBILL_TEST_DATABASE_URL"]
    const server = outside === undefined ? await Effect.runPromise(Scope.provide(startServer, scope)) : undefined
    const url = server === undefined ? outside : Redacted.value(server.url)
    if (url === undefined) throw new Error("no server to test on")
    // Several runs may share an outside server.
    const template = `waybill_template_${randomBytes(4).toString("hex")}`
    await execute(url, `CREATE DATABASE ${template}`)
    const problem = await prepareTemplate(Redacted.make(onDatabase(url, template))).then(
      () => "",
      (cause) => String(cause),
    )
    await bundled
    project.provide("postgresUrl", url)
    project.provide("postgresAdminUrl", server === undefined ? url : Redacted.value(server.adminUrl))
    project.provide("templateDatabase", template)
    project.provide("templateProblem", problem)
    return async () => {
      if (server === undefined) await execute(url, `DROP DATABASE ${template} WITH (FORCE)`)
      await close()
    }
  } catch (cause) {
    await close()
    throw cause
  }
}
