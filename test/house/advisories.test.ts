import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { found, packagesOf } from "../../scripts/advisories/found.ts"
import { inRange } from "../../scripts/advisories/range.ts"

const advisory = { severity: "high", title: "Reads what it should not", url: "urn:one", vulnerable_versions: ">=0.0.1" }

/** A registry on loopback, and what it was asked. */
const registry = (answer: (asked: Readonly<Record<string, ReadonlyArray<string>>>) => unknown, status = 200) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const requests: Array<string> = []
      const reply = async (request: IncomingMessage) => {
        requests.push(`${request.method} ${request.url}`)
        return JSON.stringify(answer(JSON.parse(await text(request))))
      }
      const server = createServer((request, response) => {
        void reply(request).then((body) => response.writeHead(status).end(body))
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/place`
      const close = () =>
        new Promise<void>((resolve) => {
          server.closeAllConnections()
          server.close(() => resolve())
        })
      return { url, requests, close }
    }),
    ({ close }) => Effect.promise(close),
  )

const run = (url: string) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly said: string }>((resolve) => {
        const env = { ...process.env, npm_config_registry: url }
        const child = execFile(process.execPath, ["bin/run.mjs", "scripts/advisories.ts"], { env }, (_, said) =>
          resolve({ code: child.exitCode ?? -1, said }),
        )
      }),
  )

describe("advisories", () => {
  it.live("a registry that knows a high one against what is locked fails the command, which names it", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* registry((asked) => {
        assert.isAbove(Object.keys(asked).length, 200)
        return { effect: [advisory], vitest: [{ ...advisory, severity: "low", vulnerable_versions: "<0.0.1" }] }
      })
      const { code, said } = yield* run(url)
      assert.deepStrictEqual(requests, ["POST /some/place/-/npm/v1/security/advisories/bulk"])
      assert.match(said, /^high {6}effect \d[^ ]* \(>=0\.0\.1\): Reads what it should not urn:one$/mu)
      assert.notInclude(said, "vitest")
      assert.match(said, /1 advisories, 1 of them high or critical/u)
      assert.strictEqual(code, 1)
    }),
  )

  it.live("one that is moderate is printed and fails nothing", () =>
    Effect.gen(function* () {
      const { url } = yield* registry(() => ({ effect: [{ ...advisory, severity: "moderate" }] }))
      const { code, said } = yield* run(url)
      assert.match(said, /^moderate {2}effect /mu)
      assert.strictEqual(code, 0)
    }),
  )

  it.live("a registry without the endpoint, or with another answer, is said to have checked nothing", () =>
    Effect.gen(function* () {
      const without = yield* registry(() => ({ error: "Method not allowed" }), 405)
      assert.deepStrictEqual(yield* run(without.url), {
        code: 0,
        said: "not checked: the registry does not support this query (HTTP 405)\n",
      })
      const other = yield* registry(() => ["none"])
      assert.deepStrictEqual(yield* run(other.url), {
        code: 0,
        said: "not checked: the registry's response is not valid\n",
      })
    }),
  )

  it.live("a registry that is down is said to have checked nothing", () =>
    Effect.gen(function* () {
      const { close, url } = yield* registry(() => ({}))
      yield* Effect.promise(close)
      assert.deepStrictEqual(yield* run(url), {
        code: 0,
        said: "not checked: the registry cannot be reached (ECONNREFUSED)\n",
      })
    }),
  )

  it("every locked version is asked for, under the package's own name, and links are not", () => {
    const lock = (packages: object) => JSON.stringify({ packages })
    const packages = packagesOf([
      lock({
        "": { version: "1.0.0" },
        "packages/own": { version: "1.0.0" },
        "node_modules/own": { link: true },
        "node_modules/a": { version: "1.0.0", dev: true },
        "node_modules/@b/c/node_modules/a": { version: "2.0.0" },
        "node_modules/nick": { name: "@b/c", version: "3.0.0" },
      }),
      lock({ "node_modules/a": { version: "1.0.0" } }),
    ])
    assert.deepStrictEqual(
      packages,
      new Map([
        [
          "a",
          new Map([
            ["1.0.0", { production: true }],
            ["2.0.0", { production: true }],
          ]),
        ],
        ["@b/c", new Map([["3.0.0", { production: true }]])],
      ]),
    )
  })

  it("the worst comes first, and one of no known severity is the worst", () => {
    const packages = packagesOf([JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0", dev: true } } })])
    const severities = ["low", "dire", "critical", "moderate"]
    const all = found(packages, { a: severities.map((severity) => ({ ...advisory, severity })), other: [advisory] })
    assert.deepStrictEqual(
      all?.map(({ production, severity, versions }) => [severity, production, versions]),
      ["dire", "critical", "moderate", "low"].map((severity) => [severity, false, ["1.0.0"]]),
    )
    assert.deepStrictEqual(
      [[], null, "none", { a: "none" }, { a: [null] }].map((each) => found(packages, each)),
      [undefined, undefined, undefined, undefined, undefined],
    )
  })

  it.each([
    ["1.2.3", ">=1.0.0 <1.2.3", false],
    ["1.2.2", ">=1.0.0 <1.2.3", true],
    ["1.0.0", ">=1.0.0 <1.2.3", true],
    ["0.9.9", ">= 1.0.0 < 1.2.3", false],
    ["2.0.0", "<1.0.0 || 2.0.0", true],
    ["2.0.1", "<1.0.0 || =2.0.0", false],
    ["1.10.0", "<=1.9.0", false],
    ["2.0.0-beta.9", ">2.0.0-beta.10 <3", false],
    ["2.0.0-beta.11", ">2.0.0-beta.10 <3", true],
    ["2.0.0-rc", "<2.0.0", true],
    ["2.0.0-alpha.beta", ">2.0.0-alpha.1", true],
    ["2.0.0-alpha", "<2.0.0-alpha.1", true],
    ["1.0.0+build", "1.0", true],
    ["1.0.0", "*", true],
    ["1.0.0", "~0.9", true],
    ["of a branch", "<1.0.0", true],
  ])("%s in %s is %s", (version, range, is) => {
    assert.strictEqual(inRange(version, range), is)
  })
})
