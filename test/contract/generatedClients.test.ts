import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, layer } from "../support/effectTest.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"
import { type Client, CLIENTS, type Sent } from "./generators/Clients.ts"

const TOOLS = fileURLToPath(new URL("generators", import.meta.url))
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url))

const EMAIL = {
  from: "Acme <hi@acme.test>",
  to: ["Ana <ana@example.org>", "bo@example.org"],
  cc: "cy@example.org",
  bcc: null,
  reply_to: "help@acme.test",
  html: "<p>Thank you</p>",
  headers: { "X-Order": "4711" },
  tags: ["receipt"],
  attachments: [{ filename: "a.txt", content: "aGk=", content_type: "text/plain" }],
  tracking: { opens: false },
}

const CONFIG = {
  compilerOptions: {
    strict: true,
    skipDefaultLibCheck: true,
    noUncheckedIndexedAccess: true,
    target: "es2022",
    lib: ["es2023", "dom", "dom.iterable"],
    module: "nodenext",
    types: [],
    outDir: "compiled",
  },
}

/** Generated code that may be `unknown`: the free-form data of an event or a webhook call, and the body of a stream. */
const UNKNOWN = [
  /(?:data|sample|suggested_variables|variables|webhook_payload|zTemplateVariables)(?:: | = )z\.record\(z\.string\(\), z\.unknown\(\)\)/u,
  /Inbound(?:Raw|Attachment)Response = zod\.unknown\(\)/u,
  /EventsStreamResponse = zod\.unknown\(\)/u,
  // A field of an event in a receipt, and the record that follows from those which are shown.
  /^\s*"?value"?: (?:z|zod)\.unknown\(\)/u,
  /^\s*"?email"?: (?:z|zod)\.record\((?:z|zod)\.string\(\), (?:z|zod)\.unknown\(\)\)/u,
]

let home = ""
beforeAll(async () => {
  const { href } = new URL("../../bin/install.mjs", import.meta.url)
  const { ensureModules } = (await import(href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder: TOOLS })
  home = await fs.mkdtemp(join(tmpdir(), "waybill-generators-"))
  await fs.symlink(join(TOOLS, "node_modules"), join(home, "node_modules"))
})
afterAll(() => fs.rm(home, { recursive: true, force: true }))

/** Runs a program in a folder and returns what it printed; a failure has its output as the message. */
const run = (cwd: string, file: string, args: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const env = { PATH: dirname(process.execPath), HOME: home, REDOCLY_TELEMETRY: "off", CI: "true" }
    execFile(process.execPath, [file, ...args], { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${file}\n${stdout}\n${stderr}`)),
    )
  })

const tool = (name: string) => join(home, "node_modules", name)

interface Service {
  readonly url: string
  readonly key: string
}

/** Generates a client, compiles it and its program, and sends a mail with it. */
const sendWith = async ({ command: [file = "", ...args], config, name, program }: Client, { key, url }: Service) => {
  const folder = join(home, name.replaceAll(/\W+/gu, "-"))
  await fs.mkdir(folder)
  const service = `
export const url = ${JSON.stringify(url)}
export const key = ${JSON.stringify(key)}
export const headers = { authorization: "Bearer " + key }
export const email = ${JSON.stringify({ ...EMAIL, subject: name })}
export const stranger = "a@unknown.test"
`
  const files = {
    "package.json": JSON.stringify({ type: "module" }),
    "tsconfig.json": JSON.stringify(CONFIG),
    "service.ts": service,
    "send.ts": program,
    ...(config === undefined ? {} : { [config.file]: config.text }),
  }
  await Promise.all(Object.entries(files).map(([file, text]) => fs.writeFile(join(folder, file), text)))
  await run(folder, tool(file), args)
  await run(folder, TSC, ["-p", "."])
  const sent = JSON.parse(await run(folder, join(folder, "compiled/send.js"), [])) as Sent
  return { folder, sent }
}

interface Problem {
  readonly severity: string
  readonly text: string
}

const redocly = async (): Promise<ReadonlyArray<Problem>> => {
  const args = ["lint", "openapi.json", "--format", "json", "--max-problems", "1000"]
  const printed = await run(home, tool("@redocly/cli/bin/cli.js"), args)
  const { problems } = JSON.parse(printed) as {
    readonly problems: ReadonlyArray<{ readonly ruleId: string; readonly severity: string; readonly message: string }>
  }
  return problems.map(({ message, ruleId, severity }) => ({
    severity: severity === "warn" ? "warning" : severity,
    text: `${ruleId}: ${message}`,
  }))
}

const spectral = async () =>
  JSON.parse(await run(home, join(TOOLS, "spectral.mjs"), ["openapi.json"])) as ReadonlyArray<Problem>

/** Maximum time of a test on a busy machine: the first one waits beside all tools. */
const TIMEOUT_MS = 120_000

/** Starts all tools side by side with the first test; each test waits for its own. */
let started: ReturnType<typeof start> | undefined
const start = (service: Service) => {
  const failable = <A>(promise: Promise<A>): Promise<A> => {
    // A tool may fail before its test waits for it.
    promise.catch(() => undefined)
    return promise
  }
  return {
    clients: new Map(CLIENTS.map((client) => [client.name, failable(sendWith(client, service))])),
    linters: { redocly: failable(redocly()), spectral: failable(spectral()) },
  }
}

const tools = Effect.gen(function* () {
  if (started !== undefined) return started
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret: key } = yield* world.key(account)
  yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
  const { text } = yield* world.request("GET", "/openapi.json")
  yield* Effect.promise(() => fs.writeFile(join(home, "openapi.json"), text))
  started = start({ url: world.url, key })
  return started
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the served OpenAPI document", (it) => {
  for (const client of CLIENTS)
    it.effect(
      `becomes a client by ${client.name}, which compiles and sends a mail`,
      function* () {
        const { clients } = yield* tools
        const { folder, sent } = yield* Effect.promise(() => clients.get(client.name) ?? assert.fail())
        assert.match(sent.id, /^msg_/u)
        assert.isAtLeast(sent.listed, 1)
        assert.deepStrictEqual([sent.subject, sent.reason], [client.name, "domain_not_verified"])
        for (const entry of yield* Effect.promise(() => fs.readdir(join(folder, "generated")))) {
          if (!entry.endsWith(".ts")) continue
          const text = yield* Effect.promise(() => fs.readFile(join(folder, "generated", entry), "utf8"))
          // oxlint-disable-next-line no-control-regex
          assert.notMatch(text, /[\x00-\x08\ufffd]/u, `${entry} has characters of a pattern as they are`)
          const lost = text
            .split("\n")
            .filter((line) => /[&|] unknown\b|\bunknown [&|]|\b(?:z|zod)\.(?:unknown|any)\(\)/u.test(line))
            .filter((line) => !UNKNOWN.some((known) => known.test(line)))
          assert.deepStrictEqual(lost, [], `${entry} has lost types`)
        }
      },
      TIMEOUT_MS,
    )

  it.effect(
    "has no errors for redocly and spectral, and only known warnings",
    function* () {
      const { linters } = yield* tools
      const problems = [
        ...(yield* Effect.promise(() => linters.redocly)),
        ...(yield* Effect.promise(() => linters.spectral)),
      ]
      assert.deepStrictEqual(
        problems.filter(({ severity }) => severity === "error"),
        [],
      )
      assert.deepStrictEqual([...new Set(problems.map(({ text }) => text.split(/[ :]/u)[0]))].toSorted(), [
        // A project has no person to contact, /v1/email/logs/{id} is decided by its literal part, and probes have no 4xx.
        "info-contact",
        "no-ambiguous-paths",
        "operation-4xx-response",
      ])
    },
    TIMEOUT_MS,
  )
})
