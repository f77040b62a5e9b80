import type { PgClient } from "@effect/sql-pg"
import type * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { Effect, Logger, Result } from "effect"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Sql } from "@waybill/store/postgres/Sql"
import { account, emailId, message, write } from "../store/search/emailLogRows.ts"
import { afterAll, assert, describe, it as plain, layer } from "../support/effectTest.ts"
import * as Database from "../support/postgres/Database.ts"

interface State {
  readonly note?: string | null
}
/** The parts of the changed domain that a test uses. */
interface ChangedSuppression {
  readonly initial: State
  readonly evolve: (state: State, event: object) => State
  readonly note: (now: string, text: string) => (state: State) => Result.Result<readonly [object], unknown>
}
interface ChangedEvents {
  readonly publicType: (tag: string) => string
  readonly EVENT_KINDS: ReadonlyArray<string>
}
interface ChangedPage {
  readonly written: () => string
}
type ClientTypes = typeof import("../../scripts/generate/clientTypes.ts")
type LanguageTypes = typeof import("../../scripts/generate/languageTypes.ts")
interface NewTask {
  readonly logWaitingRows: Effect.Effect<void, unknown, PgClient.PgClient>
}

const PAGE = readFileSync("docs/recipes.md", "utf8")

/** Blocks of the recipes: a change of a file, or a new one. */
const steps = [...PAGE.matchAll(/^( *)```(diff|ts|json) (\S+)\n([^]*?)^\1```$/gmu)].map(
  ([, indent = "", kind = "", path = "", body = ""]) => ({
    kind,
    path,
    body: body.replaceAll(new RegExp(`^${indent}`, "gmu"), ""),
  }),
)

const keep = (lines: ReadonlyArray<string>, but: string): string =>
  lines
    .filter((line) => !line.startsWith(but))
    .map((line) => `${line.slice(1)}\n`)
    .join("")

/** Returns a text after a change, each part of which must occur once. */
const changed = (text: string, path: string, diff: string): string =>
  diff.split(/^@@\n/mu).reduce((before, hunk) => {
    const lines = hunk.split("\n").filter((line) => line !== "")
    const [old, made] = [keep(lines, "+"), keep(lines, "-")]
    assert.lengthOf(before.split(old), 2, `${path} has once:\n${old}`)
    return before.replace(old, () => made)
  }, text)

const copy = mkdtempSync(join(tmpdir(), "waybill-recipes-"))

/** A module of the changed copy. */
const load = <A>(path: string): Promise<A> => import(/* @vite-ignore */ join(copy, path)) as Promise<A>

const copySources = (): void => {
  const isSource = (path: string) => !/node_modules|\/dist\b/u.test(path)
  const tests = ["test/domain/stream", "test/fixtures/events", "test/store/search", "test/support"]
  for (const folder of ["packages", "apps/server", "scripts/generate", ...tests])
    cpSync(folder, join(copy, folder), { recursive: true, filter: isSource })
  cpSync("package.json", join(copy, "package.json"))
  // Packages of the repository are those of the copy, all others are ours.
  mkdirSync(join(copy, "node_modules/@waybill"), { recursive: true })
  for (const name of readdirSync("node_modules"))
    if (name !== "@waybill" && !name.startsWith("."))
      symlinkSync(join(process.cwd(), "node_modules", name), join(copy, "node_modules", name))
  symlinkSync(join(process.cwd(), "apps/server/node_modules"), join(copy, "apps/server/node_modules"))
  for (const name of readdirSync("packages"))
    symlinkSync(join(copy, "packages", name), join(copy, "node_modules/@waybill", name))
  for (const { body, kind, path } of steps) {
    const file = join(copy, path)
    if (kind !== "diff") mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, kind === "diff" ? changed(readFileSync(file, "utf8"), path, body) : body)
  }
}

copySources()
afterAll(() => rmSync(copy, { recursive: true, force: true }))

// The reminder that the page names.
describe("the recipe of an event:", async () => {
  await load("test/domain/stream/domainEvent.test.ts")
  // The test that the recipe ends with.
  await load("test/server/http/suppressionNotes.test.ts")
})

plain("the recipes change files once, and the result compiles", { timeout: 180_000 }, () => {
  assert.isAbove(steps.length, 8)
  // The changed files and what they import: the whole server takes a minute on a busy machine.
  const sources = steps.map(({ path }) => path).filter((path) => path.endsWith(".ts"))
  // The last one declares what tests are provided with.
  const options = { files: [...sources, "test/support/postgres/globalSetup.ts"], include: [] }
  writeFileSync(
    join(copy, "tsconfig.json"),
    JSON.stringify({ extends: join(process.cwd(), "tsconfig.json"), ...options }),
  )
  const compiler = join(process.cwd(), "node_modules/typescript/bin/tsc")
  const { status, stdout } = spawnSync(process.execPath, [compiler, "--noEmit", "-p", copy], { encoding: "utf8" })
  assert.strictEqual(status, 0, stdout)
})

plain("the recipe of a filter: the clients of all languages take it", { timeout: 180_000 }, async () => {
  const texts = async (load: (path: string) => Promise<unknown>) => {
    const { render } = (await load("scripts/generate/clientTypes.ts")) as ClientTypes
    const { languageTypes } = (await load("scripts/generate/languageTypes.ts")) as LanguageTypes
    return Object.entries({ ...languageTypes(), TypeScript: render() })
  }
  const before = Object.fromEntries(await texts((path) => import(/* @vite-ignore */ join(process.cwd(), path))))
  const countOf = (text = "") => text.split("resend_of").length
  for (const [file, text] of await texts(load)) assert.isAbove(countOf(text), countOf(before[file]), file)
})

plain("the recipe of an event: it is decided, folded and known", { timeout: 180_000 }, async () => {
  const Suppression = await load<ChangedSuppression>("packages/domain/src/suppression/Suppression.ts")
  const DomainEvent = await load<ChangedEvents>("packages/domain/src/stream/DomainEvent.ts")
  const sample = JSON.parse(readFileSync(join(copy, "test/fixtures/events/SuppressionNoted.v1.json"), "utf8"))
  const { address, at, note, suppression_id } = sample.data
  const added = { _tag: "SuppressionAdded", suppression_id, address, reason: "manual", email_id: null, at }
  const state = Suppression.evolve(Suppression.initial, added)
  const [event] = Result.getOrThrow(Suppression.note(at, note)(state))
  assert.deepStrictEqual(event, { _tag: "SuppressionNoted", ...sample.data })
  assert.strictEqual(Suppression.evolve(state, event).note, "asked by phone")
  assert.isTrue(Result.isFailure(Suppression.note(at, note)(Suppression.initial)))
  assert.strictEqual(DomainEvent.publicType("SuppressionNoted"), "suppression.noted")
  assert.include(DomainEvent.EVENT_KINDS, "SuppressionNoted/1")
  const { written } = await load<ChangedPage>("scripts/generate/events.ts")
  assert.include(written(), "| `suppression.noted` |")
})

layer(Database.layerFresh, { excludeTestServices: true })("the recipe of", (it) => {
  it.effect("a filter: it finds what matches, beside other filters too", function* () {
    const sql = yield* Sql
    yield* write(account(1), [0, 1, 2, 3].map(message))
    yield* sql`
      UPDATE events SET data = data || jsonb_build_object('resend_of', ${emailId(0)}::text)
      WHERE stream_id IN ${sql.in([emailId(1), emailId(3)])}`
    const { list } = yield* Effect.promise(() =>
      load<typeof EmailLogQuery>("packages/store/src/search/EmailLogQuery.ts"),
    )
    const found = Effect.fnUntraced(function* (query: object) {
      const page = yield* list({ account_id: account(1), limit: 10, ...query })
      return page.data.map((record) => record["id"])
    })
    assert.lengthOf(yield* found({}), 4)
    assert.deepStrictEqual(yield* found({ resend_of: emailId(0) }), [emailId(3), emailId(1)])
    assert.deepStrictEqual(yield* found({ resend_of: emailId(0), tag: ["receipt"] }), [emailId(3)])
    assert.deepStrictEqual(yield* found({ resend_of: emailId(2) }), [])
  })

  it.effect("a periodic task: it warns when work has waited for long, and only then", function* () {
    const sql = yield* Sql
    const { logWaitingRows } = yield* Effect.promise(() =>
      load<NewTask>("apps/server/src/worker/periodic/logWaitingRows.ts"),
    )
    const lines: Array<unknown> = []
    const logged = Effect.provide(
      logWaitingRows,
      Logger.layer([Logger.make(({ message }) => void lines.push(message))]),
    )
    yield* logged
    assert.deepStrictEqual(lines, [])
    yield* sql`
      INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload)
      VALUES ('recipe', ${account(1)}, 'delivery', 'recipe', now() - interval '2 hours', '{}')`
    yield* logged
    assert.deepStrictEqual(lines, [["work has waited for more than an hour", { rows: 1 }]])
  })
})
