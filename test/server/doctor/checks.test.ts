import * as Dns from "@waybill/mail/dns/Dns"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import { Effect, Result } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DiskCheck from "../../../apps/server/src/operate/doctor/DiskCheck.ts"
import * as NameChecks from "../../../apps/server/src/operate/doctor/NameChecks.ts"
import { checkDaneResolver } from "../../../apps/server/src/operate/doctor/checkDaneResolver.ts"
import { checkPort25 } from "../../../apps/server/src/operate/doctor/checkPort25.ts"
import { checkRelay } from "../../../apps/server/src/operate/doctor/checkRelay.ts"
import { checkResolvers } from "../../../apps/server/src/operate/doctor/checkResolvers.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

const NAME = "mail.acme.test"
/** A port on which nothing listens, since it is reserved. */
const NOBODY = { host: "127.0.0.1", port: 1 }

const asking = (server: DnsServer.DnsServer) =>
  Dns.Dns.layer({ servers: [server.server], query_timeout_ms: 20_000, query_tries: 1 })

describe("resolvers", () => {
  it.live("are ok if each resolves a public name", function* () {
    const { server } = yield* DnsServer.listen({ "example.com": { NS: ["a.iana-servers.net"] } })
    const finding = yield* checkResolvers([server], "broken")
    assert.deepStrictEqual([finding.status, finding.fix], ["ok", null])
  })

  it.live("are broken if they have no record or refuse", function* () {
    const private_ = yield* DnsServer.listen({ "corp.test": { A: ["10.0.0.1"] } })
    const refusing = yield* DnsServer.listen({ "example.com": "REFUSED" })
    const finding = yield* checkResolvers([private_.server, refusing.server], "broken")
    assert.strictEqual(finding.status, "broken")
    assert.include(finding.result, `${private_.server} has no record of example.com (NXDOMAIN)`)
    assert.include(finding.result, `${refusing.server} does not answer (REFUSED)`)
    assert.include(finding.fix ?? "", "public names")
  })

  it.live("are a warning if one of two fails, and it is named", function* () {
    const good = yield* DnsServer.listen({ "example.com": { NS: ["a.iana-servers.net"] } })
    const bad = yield* DnsServer.listen({ "example.com": "SERVFAIL" })
    const finding = yield* checkResolvers([good.server, bad.server], "broken")
    assert.deepStrictEqual([finding.status, finding.result], ["warning", `${bad.server} does not answer (SERVFAIL)`])
  })

  it.live("are a problem if there are none", () =>
    Effect.map(checkResolvers([], "warning"), ({ result, status }) =>
      assert.deepStrictEqual([status, result], ["warning", "this machine has no resolver"]),
    ),
  )
})

describe("the trusted resolver", () => {
  const zones = {
    org: { NS: ["a0.org.afilias-nst.info"] },
    "dnssec-failed.org": "SERVFAIL" as const,
  }

  it.live("is ok if it validates", function* () {
    const dns = yield* DnsServer.listen(zones)
    dns.sign("org")
    assert.strictEqual((yield* checkDaneResolver(dns.server, "broken")).status, "ok")
  })

  it.live("is broken if it marks nothing, takes wrong signatures, or is away", function* () {
    const plain = yield* DnsServer.listen(zones)
    const credulous = yield* DnsServer.listen({ ...zones, "dnssec-failed.org": { A: ["192.0.2.1"] } })
    credulous.sign("org")
    const away = yield* Effect.scoped(DnsServer.listen())
    for (const [{ server }, result] of [
      [plain, /does not mark org as authentic/u],
      [credulous, /resolves dnssec-failed\.org/u],
      [away, /does not answer \(UNREACHABLE\)/u],
    ] as const) {
      const finding = yield* checkDaneResolver(server, "broken")
      assert.strictEqual(finding.status, "broken")
      assert.match(finding.result, result)
      assert.include(finding.fix ?? "", "DANE_RESOLVER")
    }
  })
})

describe("port 25", () => {
  const nothing = dnsZones({})

  it.live("is open if a server accepts the connection, and no mail is begun", () =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen()
      const finding = yield* checkPort25([server, NOBODY], NAME, "broken")
      assert.deepStrictEqual(finding.status, "ok")
      assert.include(finding.result, `${server.port}`)
      assert.deepStrictEqual(server.lines, [`EHLO ${NAME}`, "QUIT"])
    }).pipe(Effect.provide(nothing)),
  )

  it.live("is closed if no server can be reached", () =>
    Effect.gen(function* () {
      const finding = yield* checkPort25([NOBODY], NAME, "broken")
      assert.deepStrictEqual(finding.status, "broken")
      assert.include(finding.result, "ECONNREFUSED")
      assert.include(finding.fix ?? "", "provider")
    }).pipe(Effect.provide(nothing)),
  )

  it.live("is open with a warning if a server refuses this machine", () =>
    Effect.gen(function* () {
      const server = yield* SmtpServer.listen({
        script: ({ phase }) => (phase === "greeting" ? "554 5.7.1 127.0.0.1 is listed" : undefined),
      })
      const finding = yield* checkPort25([server], NAME, "broken")
      assert.deepStrictEqual(finding.status, "warning")
      assert.include(finding.result, "is listed")
    }).pipe(Effect.provide(nothing)),
  )

  it.live("is checked with servers from DNS, and says so if there are none", () =>
    Effect.gen(function* () {
      const finding = yield* checkPort25([], NAME, "broken")
      assert.include(finding.fix ?? "", "Fix DNS first")
    }).pipe(Effect.provide(nothing)),
  )
})

describe("the name in EHLO", () => {
  const zones = (ptr: string | undefined) => ({
    [NAME]: { A: ["127.0.0.1"] },
    ...(ptr === undefined ? {} : { "1.0.0.127.in-addr.arpa": { PTR: [ptr] } }),
  })
  const look = (name: string, zones: Readonly<Record<string, DnsServer.Zone>>, own: ReadonlyArray<string> = []) =>
    Effect.flatMap(DnsServer.listen(zones), (server) =>
      NameChecks.ehloName(name, own, "broken").pipe(Effect.provide(asking(server))),
    )

  it.live("is ok if its address points back", () =>
    Effect.map(look(NAME, zones(NAME)), ({ status }) => assert.strictEqual(status, "ok")),
  )

  it.live("is broken without a PTR record, or with another", function* () {
    const none = yield* look(NAME, zones(undefined))
    assert.deepStrictEqual(
      [none.status, none.result],
      ["broken", `${NAME}: 127.0.0.1 points back to nothing (NXDOMAIN)`],
    )
    const other = yield* look(NAME, zones("host-1.provider.test"))
    assert.include(other.result, "points back to host-1.provider.test")
    assert.include(other.fix ?? "", "PTR record")
  })

  it.live("is broken if it is not a host name, has no address, cannot be resolved or points elsewhere", function* () {
    for (const [finding, words] of [
      [yield* look("vm", {}), "not a public host name"],
      [yield* look(NAME, { "other.test": { A: ["127.0.0.1"] } }), "has no address (NXDOMAIN)"],
      [yield* look(NAME, { [NAME]: "SERVFAIL" }), "could not be looked up (SERVFAIL)"],
      [yield* look(NAME, zones(NAME), ["203.0.113.7"]), "this machine is 203.0.113.7"],
    ] as const) {
      assert.strictEqual(finding.status, "broken")
      assert.include(finding.result, words)
    }
  })
})

describe("the return path", () => {
  const dns = dnsZones({ "bounces.acme.dev": { MX: [{ preference: 10, exchange: "mail.acme.dev" }] } })
  const look = (domain: string, listening: boolean) => Effect.provide(NameChecks.returnPath(domain, listening), dns)

  it.effect("is ok, has no listener, or has no MX record", function* () {
    assert.strictEqual((yield* look("bounces.acme.dev", true)).status, "ok")
    assert.include((yield* look("bounces.acme.dev", false)).fix ?? "", "MAIL_PORT")
    assert.include((yield* look("nowhere.acme.dev", true)).result, "no MX record")
    assert.include((yield* look("bounces.localhost", true)).fix ?? "", "RETURN_PATH_DOMAIN")
  })
})

describe("the authorization of DMARC reports", () => {
  const anyDomain = (domain: string) => `any-domain.waybill-doctor.example._report._dmarc.${domain}`
  const dns = dnsZones({
    [anyDomain("good.acme.dev")]: { TXT: ["other", "v=DMARC1;"] },
    [anyDomain("bad.acme.dev")]: { TXT: ["v=DMARC12"] },
    [anyDomain("down.acme.dev")]: "SERVFAIL",
  })
  const look = (domain: string) => Effect.provide(NameChecks.reportAuthorization(domain), dns)

  it.effect("is ok with a wildcard, and names the record to publish without one", function* () {
    assert.strictEqual((yield* look("good.acme.dev")).status, "ok")
    for (const name of ["bad", "down", "none"]) {
      const finding = yield* look(`${name}.acme.dev`)
      assert.strictEqual(finding.status, "warning", name)
      assert.include(finding.fix ?? "", `*._report._dmarc.${name}.acme.dev with the value v=DMARC1`)
    }
    assert.strictEqual((yield* look("bounces.localhost")).status, "skipped")
  })
})

describe("the relay", () => {
  const login = { user: "acme", password: "s3cret" }
  const to = (server: { readonly host: string; readonly port: number }, password = login.password) =>
    Result.getOrThrow(RelayTransport.parse(`smtp://${login.user}:${password}@${server.host}:${server.port}`))
  const options = { name: NAME, weight: "broken" as const }

  it.live("is ok with TLS and a login, and no mail is sent", function* () {
    const server = yield* SmtpServer.listen({ auth: login, starttls: SmtpServer.certified })
    const finding = yield* checkRelay(
      { ...to(server), tls: { mode: "required", verify: true } },
      { ...options, ca: SmtpServer.authority },
    )
    assert.strictEqual(finding.status, "ok", finding.result)
    assert.match(finding.result, /TLSv1\.\d, as acme$/)
    assert.notInclude(finding.result, login.password)
    assert.deepStrictEqual(
      server.lines.map((line) => line.split(" ")[0]),
      ["EHLO", "STARTTLS", "EHLO", "AUTH", "QUIT"],
    )
  })

  it.live("is broken if it refuses the login, has an invalid certificate, offers no TLS or is not there", function* () {
    const plain = yield* SmtpServer.listen({ auth: login })
    const foreign = yield* SmtpServer.listen({ auth: login, starttls: SmtpServer.selfSigned })
    const required = { mode: "required", verify: true } as const
    for (const [finding, fix] of [
      [yield* checkRelay(to(plain, "wrong"), options), "user and password"],
      [yield* checkRelay({ ...to(foreign), tls: required }, options), "certificate"],
      [yield* checkRelay({ ...to(plain), tls: required }, options), "smtps://"],
      [yield* checkRelay(to(NOBODY), options), "Nothing listens there"],
    ] as const) {
      assert.strictEqual(finding.status, "broken")
      assert.include(finding.fix ?? "", fix)
      assert.notInclude(finding.result, login.password)
    }
  })
})

describe("the disk", () => {
  const folder = Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-disk-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true })),
  )
  const PLENTY = { low: 2 ** 60, least: 2 ** 59 }

  it.live("is ok, a warning or broken, by its free space", function* () {
    const path = yield* folder
    const of = (low: number, least: number, database = true) =>
      Effect.map(DiskCheck.check({ path, database }, { low, least }), ({ status }) => status)
    assert.deepStrictEqual(
      [yield* of(1, 1), yield* of(PLENTY.low, 1), yield* of(PLENTY.low, PLENTY.least), yield* of(PLENTY.low, 1, false)],
      ["ok", "warning", "broken", "ok"],
    )
  })

  it.live("is checked where the folder will be created, and broken if it cannot be", function* () {
    const path = yield* folder
    yield* Effect.promise(() => writeFile(join(path, "file"), ""))
    const of = (...names: ReadonlyArray<string>) =>
      DiskCheck.check({ path: join(path, ...names), database: true }, { low: 1, least: 1 })
    assert.strictEqual((yield* of("not", "yet")).status, "ok")
    const never = yield* of("file", "below")
    assert.deepStrictEqual([never.status, never.result], ["broken", `${join(path, "file")} cannot be written`])
  })
})
