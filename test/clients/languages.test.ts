import * as LogKeys from "@waybill/store/transparency/LogKeys"
import { Effect, type Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { followLogTree } from "../../apps/server/src/worker/periodic/followLogTree.ts"
import { signatures } from "../../apps/server/src/worker/webhooks/WebhookSignature.ts"
import { assert, describe, it, layer, type Methods } from "../support/effectTest.ts"
import { HttpWorld, LOG_URL, signUp } from "../support/world/HttpWorld.ts"
import * as FaultyProxy from "./FaultyProxy.ts"
import * as Languages from "./Languages.ts"
import * as Operations from "./Operations.ts"

/** A first run may compile the standard library of a language. */
const TIMEOUT_MS = 300_000

const SECRET = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`
const OTHER = `whsec_${Buffer.from("another secret of 24 byte").toString("base64")}`

/** Webhook calls for the programs, signed by the service's own code. */
const webhookCalls = () => {
  const body = JSON.stringify({ id: "evt_1", type: "email.delivered", data: { subject: "Grüße" } })
  const now = Math.floor(Date.now() / 1000)
  const sign = (secrets: ReadonlyArray<string>, at = now) => signatures({ id: "evt_1", body, secrets }, at)
  return {
    secret: SECRET,
    other: OTHER,
    id: "evt_1",
    body,
    timestamp: `${now}`,
    old_timestamp: `${now - 301}`,
    signatures: {
      valid: sign([SECRET]),
      rotated: sign([OTHER, SECRET]),
      old: sign([SECRET], now - 301),
      /** As anybody can sign for an endpoint whose secret is not set. */
      empty: sign(["whsec_"]),
      unsigned: "",
    },
  }
}

/** Runs a program of a language in the folder of its client. The output is the message of a failure. */
const runProgram = (
  language: Languages.Language,
  program: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const { WAYBILL_API_KEY: _, ...inherited } = process.env
    const options = {
      cwd: language.folder,
      env: { ...inherited, NO_PROXY: "*", no_proxy: "*", ...language.env, ...env },
      maxBuffer: 2 ** 24,
      timeout: TIMEOUT_MS,
    }
    execFile(language.interpreter, program, options, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stdout}\n${stderr}`)),
    )
  })

const { LANGUAGES } = Languages
const installed = LANGUAGES.filter(Languages.isInstalled)

const defineTests = (it: Methods<Layer.Success<ReturnType<typeof HttpWorld.layer>>>) => {
  for (const language of installed)
    it.effect(
      `the tests of the client for ${language.name} pass against a service`,
      function* () {
        const { call, key, world } = yield* signUp({ domains: ["acme.test"] })
        // Receipts wait for the signed log.
        yield* followLogTree(LOG_URL, yield* LogKeys.makeSigners)
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => FaultyProxy.start(world.url)),
          ({ close }) => Effect.promise(close),
        )
        const env = {
          WAYBILL_URL: `${proxy.url}/plain/all/v1/`,
          WAYBILL_KEY: key,
          WAYBILL_TEST_PROXY: proxy.url,
          WAYBILL_TEST_WEBHOOK: JSON.stringify(webhookCalls()),
        }
        yield* Effect.promise(() => runProgram(language, language.tests, env))
        const labelled = (label: string) => proxy.seen.filter((request) => request.label === label)

        const called = new Set(proxy.seen.map(({ method, path }) => Operations.operationOf(method, path)))
        assert.includeMembers(
          [...called],
          [...Languages.operationsIn(language)],
          "a method of the client is not tested",
        )

        for (const label of ["cut/send", "torn/send", "frayed/send", "busy/send", "down/send"]) {
          const { json } = yield* call("GET", `/v1/email/logs?subject=${label.split("/", 1)[0]}`)
          assert.lengthOf(json.data, 1, label)
          const keys = labelled(label).map(({ headers }) => headers["idempotency-key"])
          assert.lengthOf(keys, 2, label)
          assert.lengthOf(new Set(keys), 1, label)
          assert.match(String(keys[0]), /^[!-~]{16,255}$/u)
        }
        const [first, second] = labelled("busy/send")
        assert.isAtLeast((second?.at ?? 0) - (first?.at ?? 0), 1000)
        assert.lengthOf(labelled("quota/send"), 1)
        assert.lengthOf(labelled("broken/list"), 2)

        assert.lengthOf(labelled("moved/list"), 1)
        assert.deepStrictEqual(proxy.strays, [])

        const positions = labelled("replica/one").map(({ headers, method }) => [method, headers["x-waybill-position"]])
        assert.deepStrictEqual(positions, [
          ["GET", undefined],
          ["POST", undefined],
          ["GET", "pos_1"],
        ])
      },
      TIMEOUT_MS,
    )

  for (const language of installed)
    it.effect(
      `the samples in the README of the client for ${language.name} run against a service`,
      function* () {
        const { call, key, world } = yield* signUp({ domains: ["acme.test"] })
        const scratch = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-samples-"))),
          (folder) => Effect.promise(() => rm(folder, { recursive: true })),
        )
        const program = language.samples.run(Languages.samplesOf(language), scratch)
        const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
        const printed = yield* Effect.promise(() => runProgram(language, program, env))
        assert.match(printed, /^msg_\w{26}$/mu)
        assert.match(printed, /422 unprocessable domain_not_verified req_/u)
        const { json } = yield* call("GET", "/v1/email/logs?subject=Order 4711")
        assert.lengthOf(json.data, 1)
      },
      TIMEOUT_MS,
    )
}

// A group without a test fails.
if (installed.length > 0)
  layer(HttpWorld.layer({ tracks: true }), { excludeTestServices: true })("the clients in other languages", defineTests)

describe("clients whose language is not installed", () => {
  for (const language of LANGUAGES) {
    const { interpreter, minimum, name } = language
    const isMissing = !installed.includes(language)
    const message = `${interpreter} ${minimum} or newer is not installed: the client for ${name} was not tested`
    if (isMissing) process.stdout.write(`${message}\n`)
    it.skipIf(isMissing)(isMissing ? message : `${interpreter} is installed`, () => assert.isFalse(isMissing))
  }
})
