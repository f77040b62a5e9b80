import type { EmailId } from "@waybill/domain/values/Id"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import * as fs from "node:fs/promises"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import * as TrackedLinks from "../../../apps/server/src/links/TrackedLinks.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as DocCommands from "../../support/process/DocCommands.ts"
import { freePort } from "../../support/process/service.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"

/** Path of Caddy on this machine (`apt-get install caddy`), if it is installed. */
const BINARY = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "caddy"))
  .find((path) => existsSync(path))

const [OURS, LINKS] = ["track.example.com", "links.acme.dev"]
const TARGET = "https://shop.test/o"

/** Settings that a test needs instead of ports 80 and 443, and of a public certificate authority. */
const locally = (https: number, http: number, folder: string) => `
	admin off
	local_certs
	skip_install_trust
	default_bind 127.0.0.1
	https_port ${https}
	http_port ${http}
	storage file_system ${join(folder, "certificates")}
`

/** Runs the Caddyfile of the documentation before a service, and returns its port. */
const caddy = (service: string) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-caddy-"))),
      (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true })),
    )
    const [https, http] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
    const [first = "", ...more] = DocCommands.lines("docs/tracking.md", "{\n\ton_demand_tls")
    assert.strictEqual(first, "{")
    const shown = more.join("\n").replaceAll("127.0.0.1:3025", new URL(service).host)
    const file = join(folder, "Caddyfile")
    yield* Effect.promise(() => fs.writeFile(file, `{${locally(https, http, folder)}${shown}\n`))
    const log = join(folder, "log")
    const output = yield* Effect.acquireRelease(
      Effect.promise(() => fs.open(log, "w")),
      (handle) => Effect.promise(() => handle.close()),
    )
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(BINARY ?? "", ["run", "--config", file, "--adapter", "caddyfile"], {
          env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
          stdio: ["ignore", output.fd, output.fd],
        }),
      ),
      (child) =>
        Effect.promise(async () => {
          if (child.exitCode !== null) return
          const ended = once(child, "close")
          child.kill("SIGKILL")
          await ended
        }),
    )
    yield* World.until(
      Effect.sync(() => readFileSync(log, "utf8")),
      (text) => {
        assert.notInclude(text, "Error:")
        return text.includes("serving initial configuration")
      },
    )
    return https
  })

interface Seen {
  /** Status of the answer, or 0 if there was no certificate for the name. */
  readonly status: number
  readonly location: string | undefined
}

const visit = (port: number, name: string, path: string, method = "GET") =>
  Effect.promise(
    () =>
      new Promise<Seen>((done) => {
        const options = { host: "127.0.0.1", port, path, method, servername: name, headers: { host: name } }
        // Caddy's own authority signs the certificate; the name in it is checked by TLS itself.
        const asked = request({ ...options, agent: false, rejectUnauthorized: false }, (answer) => {
          answer.resume().on("end", () => done({ status: answer.statusCode ?? 0, location: answer.headers.location }))
        })
        asked.on("error", () => done({ status: 0, location: undefined })).end()
      }),
  )

const zones: { [name: string]: { TXT?: Array<string>; CNAME?: string } } = {}
const world = HttpWorld.layer({ tracks: true, trackingHost: OURS, transport: "relay", zones })

layer(world, { excludeTestServices: true, timeout: "90 seconds" })("the Caddyfile of docs/tracking.md", (it) => {
  it.effect.skipIf(BINARY === undefined)(
    "has certificates made for names of customers only, and serves their links only (skipped without caddy)",
    () =>
      Effect.gen(function* () {
        const world = yield* HttpWorld
        const account_id = yield* world.account()
        const { secret: key } = yield* world.key(account_id)
        const call = (method: string, path: string, body?: unknown) =>
          world.request(method, `/v1${path}`, { key, ...(body === undefined ? {} : { body }) })
        const domain = (yield* call("POST", "/domains", { name: "acme.dev" })).json
        yield* call("PATCH", "/domains/acme.dev", { tracking_domain: LINKS })
        const port = yield* caddy(world.url)
        const [secretKey = new Uint8Array()] = yield* TrackedLinks.trackingKeys
        const mail = { account_id, email_id: `msg_${"0".repeat(26)}` as EmailId }
        const open = TrackingToken.OPEN_PATH + TrackingToken.ofOpen(secretKey, mail)
        const click = TrackingToken.CLICK_PATH + TrackingToken.ofClick(secretKey, { ...mail, url: TARGET })

        // Caddy makes the certificates of the service's own names after its start.
        for (const name of ["waybill.example.com", OURS]) {
          yield* World.until(visit(port, name, "/healthz"), ({ status }) => status === 200)
          assert.deepStrictEqual(yield* visit(port, name, click), { status: 302, location: TARGET }, name)
        }
        // A domain that is not verified has no certificate.
        assert.strictEqual((yield* visit(port, LINKS, open)).status, 0)

        zones["wb1._domainkey.acme.dev"] = { TXT: [domain.records[0].value] }
        zones[LINKS] = { CNAME: OURS }
        yield* call("POST", "/domains/acme.dev/verify")
        yield* World.until(world.request("GET", `/t/ask?domain=${LINKS}`), ({ status }) => status === 200)
        assert.strictEqual((yield* visit(port, LINKS, open)).status, 200)
        assert.deepStrictEqual(yield* visit(port, LINKS, click), { status: 302, location: TARGET })
        for (const path of ["/", "/healthz", "/docs", "/v1/domains", `/t/ask?domain=${LINKS}`, "/t/c/../../healthz"])
          assert.strictEqual((yield* visit(port, LINKS, path)).status, 404, path)
        for (const name of ["acme.dev", "x.links.acme.dev", "example.com"])
          assert.strictEqual((yield* visit(port, name, open)).status, 0, name)
      }),
  )
})
