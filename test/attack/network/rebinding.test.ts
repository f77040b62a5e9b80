import { Effect } from "effect"
import * as http from "node:http"
import { hostname } from "node:os"
import * as HostNames from "../../../apps/server/src/process/HostNames.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"

/** Sends a request as a browser does after DNS rebinding: the Host header is still that of the web page. */
const requestAs = (port: number, path: string, host: string) =>
  Effect.promise(
    () =>
      new Promise<{ readonly status: number | undefined; readonly text: string }>((resolve, reject) => {
        const request = http.get({ port, host: "127.0.0.1", path, headers: { host } }, async (response) => {
          let text = ""
          for await (const chunk of response) text += String(chunk)
          resolve({ status: response.statusCode, text })
        })
        request.once("error", reject)
      }),
  )

layer(Database.layerFresh, { excludeTestServices: true })("metrics", (it) => {
  // threat: proxies
  it.effect(
    "are not served under a host name that a web page could point at this machine",
    function* () {
      const { url } = yield* Database.Fresh
      const [port, metrics] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
      yield* ServiceProcess.start(url, {
        ROLES: "api",
        PORT: String(port),
        BASE_URL: "",
        METRICS_PORT: String(metrics),
        METRICS_ALLOW_HOSTS: "node1.acme.test",
      })
      for (const each of [port, metrics]) {
        for (const host of [`evil.example:${each}`, "evil.example", `127.0.0.1.evil.example:${each}`, "x@127.0.0.1"]) {
          const { status, text } = yield* requestAs(each, "/metrics", host)
          assert.strictEqual(status, 421, host)
          assert.notInclude(text, "process_cpu_seconds_total")
        }
        for (const host of [`127.0.0.1:${each}`, `localhost:${each}`, `[::1]:${each}`, "node1.acme.test", hostname()]) {
          const { status, text } = yield* requestAs(each, "/metrics", host)
          assert.strictEqual(status, 200, host)
          assert.include(text, "process_cpu_seconds_total")
        }
        // `/healthz` reveals nothing, and load balancers request it under many names.
        assert.strictEqual((yield* requestAs(each, "/healthz", "evil.example")).status, 200)
      }
    },
    90_000,
  )
})

describe("a Host header", () => {
  const names = HostNames.make(["mail.acme.test", "Node1.Acme.Test."])

  for (const host of [
    "127.0.0.1:3025",
    "10.0.0.11:9464",
    "[::1]:3025",
    "[2001:db8::1]",
    "localhost:3025",
    "LOCALHOST",
    "localhost.",
    "waybill.localhost",
    "api:9464",
    "api.prod.internal:9464",
    "mail.acme.test",
    "MAIL.acme.test.:443",
    "node1.acme.test:9464",
    undefined,
  ])
    it(`is accepted: ${host}`, () => assert.isTrue(HostNames.includes(names, host)))

  for (const host of [
    "evil.example",
    "evil.example:3025",
    "mail.acme.test.evil.example",
    "evilmail.acme.test",
    "x.mail.acme.test",
    "127.0.0.1.nip.io",
    "localhost.evil.example",
    "evil.localhost.example",
    "evil.example@127.0.0.1",
    "127.0.0.1/evil.example",
    "127.0.0.1:3025:3025",
    "evil.example#localhost",
    "[::1].evil.example",
    "printer.local",
  ])
    it(`is refused: ${host}`, () => assert.isFalse(HostNames.includes(names, host)))
})
