import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { readdirSync } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { waybill } from "../../../apps/server/src/boot/waybill.ts"
import { afterAll, assert, beforeAll, describe, it } from "../../support/effectTest.ts"
import * as DocCommands from "../../support/process/DocCommands.ts"
import { freePort, runToEnd, WaybillCommand } from "../../support/process/service.ts"

/**
 * Documents whose commands are run here, one after another, beside a service with its embedded Postgres. One more is a
 * line in this list, when `$ACCOUNT`, `$WAYBILL_KEY` and `$WAYBILL_DATA` are all that its commands ask for.
 */
const RUN_HERE = [
  "command-line.md",
  "first-hours.md",
  "first-mail.md",
  "incidents.md",
  "install.md",
  "keys.md",
  "monitoring.md",
  "replay.md",
  "retention.md",
  "source-addresses.md",
  "upgrade.md",
  "failover.md",
  "../inbound.md",
  "../scaling.md",
  "../smtp.md",
  "../start.md",
  "../test-clocks.md",
  "../webhooks.md",
]

const FOLDER = "docs/operating"
const TIMEOUT = 120_000

let scratch = ""
let place: DocCommands.Place
let service: WaybillCommand
let ports: Readonly<Record<string, string>> = {}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "waybill-docs-"))
  // As root, the embedded Postgres runs as another user, who needs access to the folder.
  await chmod(scratch, 0o711)
  const [port, smtp, mail, otherPort, otherSmtp, metrics] = await Promise.all(Array.from({ length: 6 }, freePort))
  const env = { WAYBILL_DATA: join(scratch, "data"), HOME: scratch }
  ports = { PORT: String(port), SMTP_PORT: String(smtp), MAIL_PORT: String(mail) }
  service = new WaybillCommand(["start"], { ...env, ...ports })
  const said = await service.waitForOutput("curl ")
  const key = /API key +(wb_\w+)/u.exec(said)?.[1] ?? assert.fail(said)
  const { output } = await runToEnd(["accounts", "list", "--json"], env)
  const account = /acc_[0-9a-z]+/u.exec(output)?.[0] ?? assert.fail(output)
  place = {
    checkout: process.cwd(),
    instead: {
      "127.0.0.1:3025": `127.0.0.1:${port}`,
      "127.0.0.1:2525": `127.0.0.1:${smtp}`,
      "127.0.0.1:2526": `127.0.0.1:${mail}`,
      "METRICS_PORT=9464": `METRICS_PORT=${metrics}`,
      // A time at which the history has events.
      "2026-11-21T09:30:00Z": new Date().toISOString(),
    },
    env: {
      ...env,
      // A process that a document starts needs ports of its own.
      PORT: String(otherPort),
      SMTP_PORT: String(otherSmtp),
      PATH: `${await DocCommands.shims(join(scratch, "bin"))}:${process.env["PATH"] ?? ""}`,
      ACCOUNT: account,
      WAYBILL_KEY: key,
      WAYBILL_URL: `http://127.0.0.1:${port}`,
    },
  }
}, TIMEOUT)

afterAll(async () => {
  await service.stop()
  await rm(scratch, { recursive: true, force: true })
}, TIMEOUT)

const files = [
  ...readdirSync(FOLDER).filter((name) => name.endsWith(".md")),
  ...RUN_HERE.filter((name) => name.startsWith("../")),
]
const known = (wanted: (name: string) => boolean) =>
  files.filter(wanted).flatMap((name) => DocCommands.blocks(join(FOLDER, name)))
const title = ({ file, line, text }: DocCommands.Block) => ({ title: `${file}:${line} ${text.trim().split("\n")[0]}` })

const subcommandsOf = ({ subcommands }: Pick<typeof waybill, "subcommands">) =>
  subcommands.flatMap(({ commands }) => commands)

/** Returns the leading words that name a command and its subcommands. */
const pathOf = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const path: Array<string> = []
  let within = subcommandsOf(waybill)
  for (const word of words) {
    const found = within.find(({ name }) => name === word)
    if (found === undefined) break
    path.push(word)
    within = subcommandsOf(found)
  }
  return path
}

const helpOf = async (path: ReadonlyArray<string>): Promise<string> => {
  const said: Array<unknown> = []
  const quiet = { ...globalThis.console, log: (...words: ReadonlyArray<unknown>) => void said.push(...words) }
  const asked = Command.runWith(waybill, { version: "" })([...path, "--help"]).pipe(
    Effect.ignore,
    Effect.provideService(Console.Console, quiet),
    Effect.provide(NodeServices.layer),
  )
  await Effect.runPromise(asked)
  return said.join("\n")
}

it("the served pages have the ports of the service in their samples", async () => {
  const { PORT = "", SMTP_PORT = "", MAIL_PORT = "" } = ports
  const text = await (await fetch(`http://127.0.0.1:${PORT}/docs/inbound`)).text()
  for (const [usual, own] of [
    [2525, SMTP_PORT],
    [2526, MAIL_PORT],
  ])
    assert.include(text, `.replace(/\\b${usual}\\b/gu, "${own}")`)
})

describe("a command in the operator documentation", () => {
  it.each(known(() => true).map((block) => ({ ...title(block), block })))("is one: $title", async ({ block }) => {
    const { code, output } = await DocCommands.isReadable(block)
    assert.strictEqual(code, 0, output)
  })

  it.each(
    known((name) => RUN_HERE.includes(name))
      .filter(({ how }) => how === "run" || how === "service")
      .map((block) => ({ ...title(block), block })),
  )("does what it says: $title", { timeout: TIMEOUT }, async ({ block }) => {
    // A data folder has one service; other processes of the installation name its database.
    const isSecond = block.how === "service" && !block.text.includes("DATABASE_URL")
    const env = isSecond ? { ...place.env, WAYBILL_DATA: join(scratch, "second") } : place.env
    const { code, output } = await DocCommands.run(block, { ...place, env })
    assert.strictEqual(code, block.exit, output)
  })

  it("exists, with each of its flags", async () => {
    const documents = ["README.md", "docs", "docs/operating"].flatMap((path) =>
      path.endsWith(".md")
        ? [path]
        : readdirSync(path).flatMap((name) => (name.endsWith(".md") ? [join(path, name)] : [])),
    )
    const spoken = documents.flatMap((file) => DocCommands.inline(file).map((words) => ({ file, words })))
    assert.isAbove(spoken.length, 40)
    for (const { file, words } of spoken) {
      if (words[0]?.startsWith("<") === true) continue
      const path = pathOf(words)
      const said = `${file}: waybill ${words.join(" ")}`
      assert.isTrue(path.length > 0 || words[0]?.startsWith("--"), said)
      const known = await helpOf(path)
      for (const flag of words.filter((word) => word.startsWith("--"))) assert.include(known, flag, said)
    }
  })

  it("runs by npx in the checkout", { timeout: TIMEOUT }, async () => {
    const block = { file: "", line: 0, how: "run", exit: 0, text: "npx waybill --version" } as const
    const asItIs = { ...place, env: { ...place.env, PATH: process.env["PATH"] ?? "" } }
    const { code, output } = await DocCommands.run(block, asItIs)
    assert.strictEqual(code, 0, output)
  })
})
