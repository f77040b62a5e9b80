import { Sql } from "@waybill/store/postgres/Sql"
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

interface Nodes {
  readonly api: ServiceProcess.ServiceProcess
  readonly worker: ServiceProcess.ServiceProcess
  readonly apiPort: number
  readonly workerMetrics: number
}

/** An API and a worker of one installation, the worker with a metrics port. */
class Running extends Context.Service<Running, Nodes>()("test/Running") {
  static readonly layer = Layer.effect(
    Running,
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const [apiPort, workerMetrics] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
      const [api, worker] = yield* Effect.all(
        [
          ServiceProcess.start(url, { ROLES: "api", PORT: String(apiPort), BASE_URL: "" }),
          ServiceProcess.start(url, { ROLES: "worker", METRICS_PORT: String(workerMetrics) }),
        ],
        { concurrency: "unbounded" },
      )
      return { api, worker, apiPort, workerMetrics }
    }),
  )
}

const Observed = Running.layer.pipe(Layer.provideMerge(World.layer))

const get = (port: number, path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  })

/** Returns samples by name and labels; fails on a line that Prometheus would refuse. */
const samples = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const [, name, value] = /^([a-z_]+(?:\{[^}]*\})?) (\S+)$/iu.exec(line) ?? []
        if (name === undefined || value === undefined || Number.isNaN(Number(value.replace("+Inf", "Infinity"))))
          assert.fail(`not a sample: ${line}`)
        return [name, Number(value)] as const
      }),
  )

/** Retries, since a busy database leaves the values of the previous scrape. */
const isLooked = (found: ReadonlyMap<string, number>): boolean =>
  found.get("waybill_database_statistics_up") === 1 && found.get("waybill_workers") === 1

const read = (port: number) => Effect.map(get(port, "/metrics"), ({ text }) => samples(text))

layer(Observed, { excludeTestServices: true })("metrics of a running service", (it) => {
  it.effect("each periodic task runs once without a failure", function* () {
    const { worker } = yield* Running
    const sql = yield* Sql
    const added = Effect.orDie(sql`
      SELECT (graphile_worker.add_job(identifier, job_key => identifier)).id
      FROM graphile_worker._private_known_crontabs`)
    const tasks = yield* World.until(added, (rows) => rows.length > 0)
    assert.isAbove(tasks.length, 10)
    const waiting = Effect.orDie(sql`SELECT task_identifier FROM graphile_worker.jobs WHERE key IS NOT NULL`)
    yield* World.until(waiting, (rows) => rows.length === 0)
    assert.notInclude(worker.output(), "task failed")
  })

  it.effect(
    "count accepted, delivered and called on the node that did it",
    function* () {
      const { api, apiPort, workerMetrics } = yield* Running
      const { post } = yield* ServiceProcess.signUp(api)
      const mail = { from: "hi@acme.test", subject: "Receipt", text: "Thank you." }
      yield* post("/v1/email/send", { ...mail, to: "ana@example.org" })
      yield* post("/v1/email/send", { ...mail, to: "bounced@example.test" })
      yield* post("/v1/email/send", { ...mail, to: "nobody" })

      const worker = yield* World.until(
        read(workerMetrics),
        (found) =>
          (found.get('waybill_events_total{type="EmailDelivered"}') ?? 0) >= 1 &&
          (found.get('waybill_events_total{type="EmailBounced"}') ?? 0) >= 1 &&
          isLooked(found),
      )
      const delivered = [...worker].filter(([name]) =>
        name.startsWith('waybill_delivery_outcomes_total{outcome="delivered"'),
      )
      assert.deepStrictEqual(
        delivered.map(([, count]) => count),
        [1],
      )
      assert.isTrue(
        [...worker.keys()].some((name) => /outcomes_total\{outcome="bounced",class="invalid_recipient"/u.test(name)),
      )
      assert.strictEqual(worker.get("waybill_delivery_age_seconds_count"), 1)
      assert.strictEqual(worker.get("waybill_workers"), 1)
      assert.strictEqual(worker.get("waybill_database_up"), 1)

      const { status, text, type } = yield* World.until(get(apiPort, "/metrics"), ({ text }) => isLooked(samples(text)))
      assert.deepStrictEqual([status, type], [200, "text/plain; version=0.0.4; charset=utf-8"])
      const found = samples(text)
      assert.strictEqual(found.get('waybill_events_total{type="EmailQueued"}'), 2)
      assert.strictEqual(found.get('waybill_http_request_seconds_count{bucket="send",status="2xx"}'), 2)
      assert.strictEqual(found.get('waybill_http_request_seconds_count{bucket="send",status="4xx"}'), 1)
      for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "waybill_log_position"]) {
        assert.isAbove(found.get(name) ?? 0, 0, name)
      }
      assert.isDefined(found.get('nodejs_eventloop_delay_seconds{quantile="0.99"}'))
      assert.isTrue([...found.keys()].some((name) => name.startsWith("waybill_database_connections{")))
      assert.isTrue([...found.keys()].some((name) => name.startsWith("waybill_projection_lag_events{")))
      // Metrics contain no addresses.
      assert.notMatch(text, /example\.org|acme|wb_/u)
    },
    90_000,
  )

  it.effect(
    "show the queue and its age on every node",
    function* () {
      const { api, apiPort, workerMetrics } = yield* Running
      const { post } = yield* ServiceProcess.signUp(api, { domain: "later.test" })
      const scheduled_at = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 1 }))
      const mail = { from: "hi@later.test", to: "ana@example.org", subject: "Receipt", text: "Thank you." }
      yield* post("/v1/email/send", { ...mail, scheduled_at })
      for (const port of [apiPort, workerMetrics]) {
        yield* World.until(
          read(port),
          (found) => found.get('waybill_queue_depth{kind="delivery",state="scheduled"}') === 1,
          Duration.seconds(45),
        )
      }
    },
    90_000,
  )

  it.effect("are served to this machine only by default, and not through a proxy", function* () {
    const { apiPort } = yield* Running
    for (const mark of ["x-forwarded-for", "forwarded", "x-real-ip", "via"]) {
      const { status, text } = yield* get(apiPort, "/metrics", { [mark]: "203.0.113.7" })
      assert.strictEqual(status, 404, mark)
      assert.strictEqual(JSON.parse(text).error.code, "not_found")
    }
  })

  it.effect("are served with health checks on a port of their own", function* () {
    const { workerMetrics } = yield* Running
    for (const path of ["/healthz", "/readyz"]) {
      const { status, text } = yield* get(workerMetrics, path)
      assert.deepStrictEqual([status, JSON.parse(text)], [200, { status: "ok" }])
    }
    assert.strictEqual((yield* get(workerMetrics, "/v1/account")).status, 404)
  })
})

layer(World.layer, { excludeTestServices: true })("the site of a delivery", (it) => {
  it.effect(
    "is the provider that the operator's rules name for the server",
    function* () {
      const { url } = yield* Database.Fresh
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "waybill-rules-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
      )
      const file = join(folder, "rules.json")
      const rule = { suffix: "localhost", key: "smarthost.example", connections: 2, messages: 10 }
      writeFileSync(file, JSON.stringify({ rules: [rule] }))
      const { port } = yield* SmtpServer.listen()
      const workerMetrics = yield* Effect.promise(freePort)
      const [api] = yield* Effect.all(
        [
          ServiceProcess.start(url, { ROLES: "api" }),
          ServiceProcess.start(url, {
            ROLES: "worker",
            METRICS_PORT: String(workerMetrics),
            TRANSPORT: "relay",
            SMTP_URL: `smtp://localhost:${port}`,
            SITE_RULES: file,
          }),
        ],
        { concurrency: "unbounded" },
      )
      const { post } = yield* ServiceProcess.signUp(api)
      yield* post("/v1/email/send", { from: "hi@acme.test", to: "ana@example.org", subject: "Receipt", text: "Hi" })
      const found = yield* World.until(
        Effect.map(read(workerMetrics), (all) =>
          [...all.keys()].filter((name) => name.startsWith("waybill_delivery_outcomes_total")),
        ),
        (found) => found.length > 0,
      )
      assert.deepStrictEqual(found, [
        'waybill_delivery_outcomes_total{outcome="delivered",class="none",site="smarthost.example"}',
      ])
    },
    90_000,
  )
})

layer(Database.layerFresh, { excludeTestServices: true })("a node", (it) => {
  it.effect(
    "serves metrics to configured networks, and not through a proxy",
    function* () {
      const { url } = yield* Database.Fresh
      const ports = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
      const [behind, named] = ports
      yield* Effect.all(
        [
          ServiceProcess.start(url, { ROLES: "api", PORT: String(behind), BASE_URL: "https://mail.acme.test" }),
          ServiceProcess.start(url, {
            ROLES: "api",
            PORT: String(named),
            BASE_URL: "https://mail.acme.test",
            TRUSTED_PROXIES: "127.0.0.1",
            METRICS_ALLOW_NETWORKS: "10.1.0.0/16",
          }),
        ],
        { concurrency: "unbounded" },
      )
      assert.strictEqual((yield* get(behind, "/metrics")).status, 404)
      assert.strictEqual((yield* get(named, "/metrics")).status, 404)
      assert.strictEqual((yield* get(named, "/metrics", { "x-forwarded-for": "10.2.0.1" })).status, 404)
      assert.strictEqual((yield* get(named, "/metrics", { "x-forwarded-for": "10.1.0.1" })).status, 200)
    },
    90_000,
  )
})
