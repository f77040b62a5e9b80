import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Contract } from "../../apps/server/src/http/pages/reference/Contract.ts"
import { groupsOf } from "../../apps/server/src/http/pages/reference/Contract.ts"
import { callOf } from "../../apps/server/src/http/pages/reference/SampleCall.ts"
import * as Library from "../../apps/server/src/http/pages/site/Library.ts"
import * as Samples from "../../apps/server/src/http/pages/site/Samples.ts"
import { signatures } from "../../apps/server/src/worker/webhooks/WebhookSignature.ts"
import { afterAll, assert, beforeAll, describe, it, layer } from "../support/effectTest.ts"
import { HttpWorld, signUp } from "../support/world/HttpWorld.ts"
import { KEY } from "../client/support.ts"
import * as Languages from "./Languages.ts"
import { type Program, PROGRAMS } from "./docsPrograms.ts"

/** A first run may compile the standard library of a language. */
const TIMEOUT_MS = 300_000
const SECRET = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`
const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url))
/** Webhooks that an account may have. */
const MAX_WEBHOOKS = 20

const contract = OpenApi.fromApi(Api) as unknown as Contract
const pages = Library.load(contract).filter(({ isPart }) => isPart)

/** Code of a page in one language. */
const sampleOf = (markdown: string, language: string): string | undefined =>
  new RegExp(`^### ${language}\\n\\n\`\`\`\\w+\\n([^]*?)\\n\`\`\`$`, "mu").exec(markdown)?.[1]

const documented = pages.flatMap(({ markdown, slug }) => {
  if (!slug.startsWith("errors/") || !markdown.includes("## Handle it")) return []
  const [, from] = / From `([^`]+)`, for example\./u.exec(markdown) ?? []
  const [, status = ""] = /Status (\d{3})/u.exec(markdown) ?? []
  return [
    { reason: slug.slice("errors/".length), from: from ?? "POST /v1/email/send", status: Number(status), markdown },
  ]
})
/** The calls of the reference are those of these samples: each other endpoint has a made-up reason. */
const others = groupsOf(contract)
  .flatMap(({ endpoints }) => endpoints)
  .filter(({ operation, path }) => operation.security?.length !== 0 && path.startsWith("/v1/"))
  .map(({ method, path }) => `${method} ${path}`)
  .filter((endpoint) => !documented.some(({ from }) => from === endpoint))
  .map((from, nth) => {
    const row = { reason: `reason_${nth}`, statuses: [400] as const, from, when: "", advice: "" }
    return { ...row, status: 400, markdown: Samples.errorPage(row, contract, undefined) }
  })
const errors = [...documented, ...others]
const events = pages.flatMap(({ markdown, slug }) => {
  const [, body] = /^```json\n(.+)\n```$/mu.exec(markdown) ?? []
  return slug.startsWith("events/") && markdown.includes("## Receive it") && body !== undefined
    ? [{ type: slug.slice("events/".length), body, markdown }]
    : []
})

let scratch = ""
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "waybill-docs-samples-"))
  await symlink(MODULES, join(scratch, "node_modules"))
  await writeFile(join(scratch, "package.json"), '{"type":"module"}')
})
afterAll(() => rm(scratch, { recursive: true, force: true }))

const run = (command: string, args: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>>) =>
  new Promise<string>((resolve, reject) => {
    const { WAYBILL_API_KEY: _, ...inherited } = process.env
    const options = {
      cwd,
      env: { ...inherited, NO_PROXY: "*", no_proxy: "*", ...env },
      timeout: TIMEOUT_MS,
      maxBuffer: 2 ** 24,
    }
    execFile(command, args, options, (error, stdout, stderr) =>
      error === null ? resolve(`${stdout}${stderr}`) : reject(new Error(`${error.message}\n${stdout}\n${stderr}`)),
    )
  })

const written = async ({ command, file, folder, args, env }: Program, text: string) => {
  await writeFile(join(scratch, file), text)
  return (more: Readonly<Record<string, string>>) =>
    run(command, [...args, join(scratch, file)], folder ?? scratch, { ...env, ...more })
}

/** Answers the nth request with the nth refusal, and notes its method, path and body. */
const refusals = async () => {
  const seen: Array<string> = []
  const bodies: Array<string> = []
  const server = createServer((request, response) => {
    const nth = seen.length
    const { reason, status } = errors[nth] ?? { reason: "none", status: 400 }
    const request_id = `req_${nth}`
    bodies[nth] = ""
    request.setEncoding("utf8").on("data", (text: string) => (bodies[nth] += text))
    seen.push(`${request.method} ${(request.url ?? "").split("?")[0]}`)
    request.resume().once("end", () => {
      const error = { code: "invalid_request", message: `refused: ${reason}`, reason, request_id, details: [] }
      response.writeHead(status, {
        "content-type": "application/json",
        "x-request-id": request_id,
        connection: "close",
      })
      response.end(JSON.stringify({ error }))
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, seen, bodies, close: () => server.close() }
}

/** Whether a request is one of an endpoint, whatever fills in its path. */
const isOf = (seen: string, endpoint: string): boolean =>
  new RegExp(`^${endpoint.replaceAll(/\{\w+\}/gu, "[^/]+").replaceAll(".", "\\.")}$`, "u").test(seen)

const isInstalled = ({ name }: Program): boolean => {
  const language = Languages.LANGUAGES.find((each) => each.name === name)
  return language === undefined || Languages.isInstalled(language)
}

describe("samples of the documentation", { timeout: TIMEOUT_MS }, () => {
  it("are of every error reason, and of every event that is sent", () => {
    assert.isAtLeast(documented.length, 100)
    assert.isAtLeast(others.length, 40)
    assert.isAtLeast(events.length, 20)
    for (const { name } of PROGRAMS)
      for (const { markdown } of [...errors, ...events]) assert.isDefined(sampleOf(markdown, name), markdown)
  })

  for (const program of PROGRAMS) {
    const { name } = program
    it(`handle each error in ${name}, from the endpoint that answers so`, async ({ skip }) => {
      if (!isInstalled(program)) return skip(`${name} is not installed: its samples were not run`)
      const samples = errors.map(({ markdown }) => sampleOf(markdown, name) ?? "")
      const start = await written(program, program.handling(samples))
      if (program.check !== undefined)
        await run(process.execPath, program.check(join(scratch, program.file)), scratch, {})
      const server = await refusals()
      try {
        const output = (await start({ WAYBILL_URL: server.url, WAYBILL_KEY: KEY })).split("\n")
        for (const [nth, { from, reason }] of errors.entries()) {
          const id = name === "curl" ? "" : `req_${nth}`
          assert.isTrue(isOf(server.seen[nth] ?? "", from), `${reason}: ${server.seen[nth]} is not ${from}`)
          const { body } = callOf(contract, from) ?? {}
          if (body !== undefined) assert.deepInclude(JSON.parse(server.bodies[nth] ?? ""), body as object, reason)
          const line = new RegExp(`\\b${reason}\\b.*${id}$`, "u")
          assert.isTrue(
            output.some((each) => line.test(each)),
            `${reason}: ${output.join("\n")}`,
          )
        }
        assert.lengthOf(server.seen, errors.length)
      } finally {
        server.close()
      }
    })

    const { receiving } = program
    if (receiving === undefined) continue
    it(`receive each event in ${name}`, async ({ skip }) => {
      if (!isInstalled(program)) return skip(`${name} is not installed: its samples were not run`)
      const at = Math.floor(Date.now() / 1000)
      const calls = events.map(({ body }, nth) => {
        const id = `evt_${nth}`
        const signature = signatures({ id, body, secrets: [SECRET] }, at)
        return { body, headers: { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": signature } }
      })
      const start = await written(program, receiving(events.map(({ markdown }) => sampleOf(markdown, name) ?? "")))
      const output = await start({ CALLS: JSON.stringify(calls), SECRET, WAYBILL_KEY: KEY })
      assert.lengthOf(output.trim().split(name === "TypeScript" ? /^(?=\{)/mu : "\n"), events.length, output)
    })
  }
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("samples of events for curl", (it) => {
  it.effect("create a webhook for each event, and read it from the log", function* () {
    for (let from = 0; from < events.length; from += MAX_WEBHOOKS) {
      const { key, world } = yield* signUp()
      const commands = events.slice(from, from + MAX_WEBHOOKS).flatMap(({ markdown }) => {
        const [, reading = ""] = /## Read it from the log\n\n```sh\n(.+)\n```/u.exec(markdown) ?? []
        return [sampleOf(markdown, "curl") ?? "", reading]
      })
      const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
      const output = yield* Effect.promise(() => run("bash", ["-ec", commands.join("\necho\n")], scratch, env))
      const answers = output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly object: string })
      assert.deepStrictEqual(
        answers.map(({ object }) => object),
        commands.map((_, nth) => (nth % 2 === 0 ? "webhook" : "list")),
        output,
      )
    }
  })
})
