import * as MigrationFiles from "@waybill/store/database/MigrationFiles"
import * as Migrations from "@waybill/store/database/Migrations"
import { Data, Effect } from "effect"
import { execFile } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import * as fs from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Postgres } from "../../installation/Postgres.ts"
import type { Settings } from "../../settings/Settings.ts"
import * as Version from "../../process/Version.ts"

const run = promisify(execFile)

/** Folder of the template of this release, migrated and with the first account. */
export type DataTemplate = string

/** Changes with the way in which a template is made. */
const FORMAT = 3
/** Number of templates to keep: of this release and of others on the same machine. */
const MAX_TEMPLATES = 3
/** A template that is being made, or whose maker was killed. */
const DRAFT = /\.new-/u
const DRAFT_STALE_MS = 10 * 60_000
/** Where root's Postgres, which runs as another user, can enter. */
const CACHE_OF_ROOT = "/var/cache/waybill"

/** The folder of templates cannot be used. */
export class TemplateUnusable extends Data.TaggedError("TemplateUnusable")<{ readonly message: string }> {}

export const defaultCache = (): string => {
  if (process.geteuid?.() === 0) return CACHE_OF_ROOT
  const caches =
    process.platform === "darwin"
      ? join(homedir(), "Library", "Caches")
      : process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache")
  return join(caches, "waybill")
}

const attempt = <A>(body: () => Promise<A>) =>
  Effect.tryPromise({
    try: body,
    catch: (cause) => new TemplateUnusable({ message: cause instanceof Error ? cause.message : String(cause) }),
  })

/** Returns a name that changes with the release, its schema and the server that wrote the files. */
const nameOf = async ({ postgres }: Settings): Promise<string> => {
  const hash = createHash("sha256").update(JSON.stringify([FORMAT, Version.VERSION, postgres, process.arch]))
  hash.update(JSON.stringify(await MigrationFiles.read()))
  return `template-${Version.VERSION}-${hash.digest("hex").slice(0, 12)}`
}

/** Returns the template of this release, and makes it the first time, which takes some seconds. */
export const find = Effect.fnUntraced(function* (settings: Settings, cache: string) {
  const folder = join(cache, yield* attempt(() => nameOf(settings)))
  if (yield* attempt(() => exists(folder))) return folder
  const draft = `${folder}.new-${randomUUID()}`
  yield* attempt(() => fs.mkdir(draft, { recursive: true, mode: 0o755 }))
  yield* Effect.onError(make({ ...settings, data: draft }), () => Effect.promise(() => remove(draft)))
  // Renaming onto a template fails: another process was first, and its template is equivalent.
  yield* attempt(() => fs.rename(draft, folder).catch(() => remove(draft)))
  yield* attempt(() => tidy(cache, folder))
  return folder
})

/** Starts a server in a new folder, migrates it and creates the first account; the server has stopped at the end. */
const make = (settings: Settings) =>
  Effect.gen(function* () {
    const { url } = yield* Postgres.template(settings)
    yield* Migrations.migrate(url)
    const { install } = yield* Effect.promise(() => import("./TemporaryService.ts"))
    yield* install(settings, url)
  }).pipe(Effect.scoped)

/** Options of `cp` that share the blocks of both copies, on file systems that can. */
const SHARED: Partial<Record<NodeJS.Platform, string>> = { linux: "--reflink=auto", darwin: "-c" }

/** Copies a template into an existing folder, in a process of its own, which takes a third of the time of `fs.cp`. */
export const copy = async (template: DataTemplate, to: string): Promise<void> => {
  if (await exists(join(template, "location")))
    throw new Error(`${template} is in a folder that other users cannot enter. Choose another with --cache.`)
  const shared = SHARED[process.platform]
  await run("cp", ["-R", ...(shared === undefined ? [] : [shared]), `${template}/.`, to])
}

/** Removes drafts of killed processes and the templates that were made longest ago. */
const tidy = async (cache: string, kept: string): Promise<void> => {
  const entries = await Promise.all(
    (await fs.readdir(cache)).map(async (name) => {
      const path = join(cache, name)
      return { path, age: performance.timeOrigin + performance.now() - (await fs.stat(path)).mtimeMs }
    }),
  )
  const drafts = entries.filter(({ age, path }) => DRAFT.test(path) && age > DRAFT_STALE_MS)
  const templates = entries
    .filter(({ path }) => path !== kept && !DRAFT.test(path))
    .toSorted((one, other) => one.age - other.age)
  for (const { path } of [...drafts, ...templates.slice(MAX_TEMPLATES - 1)]) await remove(path)
}

const exists = (path: string) =>
  fs.stat(path).then(
    () => true,
    () => false,
  )

const remove = (path: string) => fs.rm(path, { recursive: true, force: true })
