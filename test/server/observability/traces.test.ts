import * as PackedEvent from "@waybill/store/packed/PackedEvent"
import * as PackedSql from "@waybill/store/packed/PackedSql"
import * as Id from "@waybill/domain/values/Id"
import { Effect } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Traces from "../../../apps/server/src/observability/Traces.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Collector from "../../support/process/Collector.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

const THEIR_TRACE = "0af7651916cd43dd8448eb211c80319c"

describe("the trace of a request", () => {
  it("is named by the request's own id", () => {
    const bytes = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    const id = Id.make("RequestId", 1_795_000_000_000, bytes)
    const other = Id.make("RequestId", 1_795_000_000_000, bytes.toReversed())
    assert.match(Traces.traceIdOf(id), /^[0-9a-f]{32}$/u)
    assert.notStrictEqual(Traces.traceIdOf(id), Traces.traceIdOf(other))
    // The trace id begins with the time, like the request id.
    assert.strictEqual(Number.parseInt(Traces.traceIdOf(id).slice(0, 12), 16), 1_795_000_000_000)
  })
})

layer(World.layer, { excludeTestServices: true })("a message's trace", (it) => {
  it.effect(
    "spans the request, the SMTP dialogue and the webhook in two processes",
    function* () {
      const { url } = yield* Database.Fresh
      const collector = yield* Collector.listen
      const server = yield* SmtpServer.listen()
      const hook = yield* WebhookReceiver.listen()
      const settings = {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=open%20sesame",
        WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      }
      const [api, worker] = yield* Effect.all(
        [
          ServiceProcess.start(url, { ...settings, ROLES: "api" }),
          ServiceProcess.start(url, {
            ...settings,
            ROLES: "worker",
            TRANSPORT: "relay",
            SMTP_URL: `smtp://127.0.0.1:${server.port}`,
          }),
        ],
        { concurrency: "unbounded" },
      )
      const { post } = yield* ServiceProcess.signUp(api)
      const added = yield* post("/v1/webhooks", { url: hook.url, events: ["email.delivered"] })
      assert.strictEqual(added.status, 201)
      const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "Secret of Ana", text: "Thank you." }
      const traceparent = `00-${THEIR_TRACE}-b7ad6b7169203331-01`
      const probes = yield* Effect.forEach(["/healthz", "/readyz", "/metrics"], (path) =>
        Effect.promise(async () => (await fetch(`${api.url}${path}`, { headers: { traceparent } })).headers),
      )
      const sent = yield* post("/v1/email/send", mail, { traceparent })
      assert.strictEqual(sent.status, 200)
      yield* World.until(
        Effect.sync(() => hook.calls.length),
        (calls) => calls === 1,
      )
      // Remaining spans are exported when the services stop.
      yield* Effect.all([api.stop, worker.stop], { concurrency: "unbounded" })

      const request_id = sent.headers.get("x-request-id") ?? ""
      const spans = collector.spans()
      const trace = spans.filter(({ traceId }) => traceId === Traces.traceIdOf(request_id))
      const names = new Set(trace.map(({ name }) => name))
      for (const name of ["request", "EventStore.transact", "delivery", "deliver", "SmtpDelivery.deliver"]) {
        assert.isTrue(names.has(name), `${name} in ${[...names].join(", ")}`)
      }
      for (const name of ["webhook", "callWebhook"]) assert.isTrue(names.has(name), name)
      for (const probe of probes) {
        const id = probe.get("x-request-id") ?? assert.fail("a probe has no id")
        assert.isFalse(spans.some(({ traceId }) => traceId === Traces.traceIdOf(id)))
      }
      // Each trace is complete: a span is a root, or its parent is there.
      const ids = new Set(trace.map(({ spanId }) => spanId))
      const roots = trace.filter(({ parentSpanId = "" }) => parentSpanId === "")
      assert.isTrue(trace.every(({ parentSpanId = "" }) => parentSpanId === "" || ids.has(parentSpanId)))
      assert.deepStrictEqual(roots.map(({ name }) => name).sort(), ["delivery", "request", "webhook"])
      assert.deepStrictEqual(
        roots.find(({ name }) => name === "request")?.links.map(({ traceId }) => traceId),
        [THEIR_TRACE],
      )
      // No spans of background work, and no addresses.
      assert.isTrue(
        spans.every(({ name, parentSpanId = "" }) => parentSpanId !== "" || /^(request|delivery|webhook)$/u.test(name)),
      )
      assert.notMatch(collector.text(), /example\.org|Secret of|Thank you|wb_|whsec_/u)
      assert.isTrue(collector.headers().every((key) => key === "open sesame"))

      // The event log has the same correlation as the trace.
      const sql = yield* Sql
      const rows = yield* sql<PackedEvent.Row>`
          SELECT type, stream_id, event_id, ${PackedSql.columns(sql)} FROM events
          WHERE stream_id = ${sent.json.id} ORDER BY version`
      const [queued, delivered] = rows.map(PackedEvent.open)
      assert.deepStrictEqual(
        [delivered?.type, delivered?.meta.correlation_id, delivered?.meta.causation_id],
        ["EmailDelivered", request_id, queued?.event_id],
      )
    },
    60_000,
  )
})
