// npm run bench -- size [--messages 100000] [--template] [--wal] [--json]: bytes of a message in each table and index, and of
// its write-ahead log from the request to its delivery by a relay. Messages are five texts with names and amounts filled in,
// with --template by the service. With --wal also the log by what it changes.
import { Effect, Exit, Redacted, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { INSTANCE_KEY } from "../support/world/World.ts"
import { tenant } from "./accept/tenant.ts"
import * as Waybill from "./accept/Waybill.ts"
import { child } from "./deliver/node.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"
import { message, SOURCES, templated } from "./accept/templates.ts"
import * as Wal from "./report/Wal.ts"

const ACCOUNTS = 5
const CONNECTIONS = 32
/** Messages from one checkpoint to the next. The first change of a page after a checkpoint logs the whole page. */
const CHECKPOINT_EVERY = 25_000
/** Messages that wait for delivery at most, so that the relay keeps up with the requests. */
const MAX_WAITING = 2_000
/** Tables with fewer bytes of a message are not shown. */
const LEAST_SHOWN = 4
/** Tables whose rows are kept as long as the history. */
const KEPT = [
  "events",
  "email_log",
  "email_log_terms",
  "email_subjects",
  "email_words",
  "email_key_spans",
  "email_stats",
]
const CONTENT = ["content"]

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "100000" },
    template: { type: "boolean", default: false },
    wal: { type: "boolean", default: false },
    json: { type: "boolean" },
  },
})
const MESSAGES = Number(values.messages)

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const scope = Scope.makeUnsafe()
const home = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-size-"))
try {
  const postgres = await Effect.runPromise(Scope.provide(TemporaryServer.temporaryServer(), scope))
  const url = await TemporaryServer.freshDatabase(postgres)
  const environment = await TemporaryServer.environment(postgres)
  const query = async <A>(statement: string): Promise<ReadonlyArray<A>> =>
    (await TemporaryServer.execute(Redacted.value(url), statement)) as ReadonlyArray<A>
  const keys: Array<string> = []
  for (let nth = 0; nth < ACCOUNTS; nth++) keys.push(...(await tenant(url, 1)))
  const sink = await child(scope, "sink.ts")
  const service = await Waybill.start(Redacted.value(url), home, { WAYBILL_INSTANCE_KEY: INSTANCE_KEY })
  const worker = spawn(
    process.execPath,
    [
      "--import",
      "effect/schema/SchemaJITCompiler/enable",
      here("../support/process/workerProcess.ts"),
      Redacted.value(url),
      `${sink.port}`,
      "10",
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  )
  try {
    await once(worker.stdout, "data")
    for (const key of keys) {
      await Waybill.addDomain(service, key)
      if (values.template) for (const source of SOURCES) await Waybill.addTemplate(service, key, source)
    }
    const send = async (n: number) => {
      const response = await fetch(`http://127.0.0.1:${service.port}/v1/email/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${keys[n % ACCOUNTS] ?? ""}`, "content-type": "application/json" },
        body: JSON.stringify(values.template ? templated(n) : message(n)),
      })
      if (response.status !== 200) throw new Error(`message ${n} was not accepted: ${await response.text()}`)
      await response.arrayBuffer()
    }
    const waiting = async (): Promise<number> => {
      const [row] = await query<{ readonly n: string }>("SELECT count(*) AS n FROM outbox WHERE kind = 'delivery'")
      return Number(row?.n)
    }
    const until = async (most: number) => {
      while ((await waiting()) > most) await new Promise((resolve) => setTimeout(resolve, 100))
    }
    /** Sends messages up to this number, and returns when all are delivered. */
    let sent = 0
    const upTo = async (end: number) => {
      while (sent < end) {
        const next = Math.min(end, sent + MAX_WAITING)
        await Promise.all(
          Array.from({ length: CONNECTIONS }, async () => {
            while (sent < next) await send(sent++)
          }),
        )
        await until(MAX_WAITING / 2)
      }
      await until(0)
    }
    const logged = async () => {
      const [row] = await query<{ readonly bytes: string }>("SELECT pg_current_wal_lsn() - '0/0' AS bytes")
      return Number(row?.bytes)
    }
    // The first quarter fills the indexes, so that pages split as they do later.
    await upTo(Math.floor(MESSAGES / 4))
    const first = sent
    let written = -(await logged())
    let sinceCheckpoint = 0
    while (sent < MESSAGES) {
      sinceCheckpoint = Math.min(MESSAGES - sent, CHECKPOINT_EVERY)
      await TemporaryServer.execute(Redacted.value(postgres.adminUrl), "CHECKPOINT")
      await upTo(Math.min(MESSAGES, sent + CHECKPOINT_EVERY))
    }
    written += await logged()
    const wal = values.wal ? await Wal.byRelation(postgres, url, sinceCheckpoint) : []

    const tables = await query<{
      readonly name: string
      readonly rows: string
      readonly indexes: Readonly<Record<string, number>>
    }>(`
      SELECT c.relname AS name, (pg_table_size(c.oid))::text AS rows, coalesce((
        SELECT jsonb_object_agg(i.relname, pg_relation_size(i.oid)) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
        WHERE x.indrelid = c.oid), '{}') AS indexes
      FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
      ORDER BY pg_total_relation_size(c.oid) DESC`)
    const total = (names: ReadonlyArray<string>) =>
      tables
        .filter(({ name }) => names.some((kept) => name === kept || name.startsWith(`${kept}_`)))
        .reduce((sum, { indexes, rows }) => sum + Number(rows) + Object.values(indexes).reduce((a, b) => a + b, 0), 0) /
      MESSAGES
    const kept = total(KEPT)
    const content = total(CONTENT)
    const perMessage = written / (MESSAGES - first)
    const bytes = (value: number) => String(Math.round(value))
    const rows = tables
      .filter(({ rows }) => Number(rows) / MESSAGES >= LEAST_SHOWN)
      .flatMap(({ indexes, name, rows }) => [
        [name, bytes(Number(rows) / MESSAGES)],
        ...Object.entries(indexes).map(([index, size]) => [`  ${index}`, bytes(size / MESSAGES)]),
      ])
    const findings: ReadonlyArray<Measure.Finding> = [
      { what: "kept without limit", measured: Measure.once(kept), unit: "bytes", atMost: 2_600 },
      { what: "content, kept for 30 days", measured: Measure.once(content), unit: "bytes", atMost: 1_700 },
      { what: "write-ahead log", measured: Measure.once(perMessage), unit: "bytes", atMost: 8_500 },
    ]
    Measure.answer(
      { environment, messages: MESSAGES, tables },
      [
        `${MESSAGES.toLocaleString("en-US")} messages of five texts${values.template ? ", made of templates" : ""}, from ${ACCOUNTS} accounts; bytes of each.`,
        TemporaryServer.describe(environment),
        "",
        Measure.table(["", "bytes a message"], rows),
        "",
        ...(wal.length === 0 ? [] : [Measure.table(Wal.HEADINGS, wal), ""]),
        Measure.findingsTable(findings),
      ].join("\n"),
      findings,
    )
  } finally {
    worker.kill("SIGKILL")
    await service.stop()
  }
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await fs.rm(home, { recursive: true, force: true })
}
