import * as InboundContent from "@waybill/store/content/InboundContent"
import { Sql } from "@waybill/store/postgres/Sql"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import * as net from "node:net"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"
import * as Sender from "./Sender.ts"

const MONITOR = new URL("../../support/stallMonitor.mjs", import.meta.url).href
/** Processor time for which nobody else has a turn. */
const MAX_STALL_MS = 250
const MIB = 1024 * 1024
const TIMEOUT = 240_000

const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const [port, monitorPort] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
  const node = yield* ServiceProcess.start(url, {
    MAIL_PORT: String(port),
    NODE_OPTIONS: `--import=${MONITOR}`,
    STALL_MONITOR_PORT: String(monitorPort),
  })
  const { account_id, key } = yield* ServiceProcess.signUp(node, { domain: "shop.test" })
  const monitor = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = net.connect(monitorPort, "127.0.0.1").setEncoding("utf8")
      await once(socket, "connect")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy()),
  )
  const longestStall = Effect.promise(async () => {
    monitor.write("?")
    return Number((await once(monitor, "data"))[0])
  })
  const deliver = (raw: Buffer) => Effect.promise(async () => Sender.idIn(await Sender.send(port, raw)))
  return { account_id, deliver, key, longestStall, node }
})

class Running extends Context.Service<Running, Effect.Success<typeof start>>()("test/server/inbound/Large") {
  static readonly layer = Layer.effect(Running, start)
}

const SIGNED = "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=a.test; s=x; h=from; bh=A; b=A\r\n"
const mail = (size: number, line = `${"x".repeat(76)}\r\n`, head = SIGNED) =>
  Buffer.from(`${head}From: ana@example.org\r\nSubject: Large\r\n\r\n${line.repeat(size / line.length)}`)

layer(Running.layer.pipe(Layer.provideMerge(World.layer)), { excludeTestServices: true, timeout: "240 seconds" })(
  "a large mail",
  (it) => {
    it.effect("is kept in pieces, read whole, kept once and deleted", function* () {
      const { account_id, deliver, key, node } = yield* Running
      const { driver: sql } = yield* Sql
      const rows = (id: string) =>
        Effect.map(
          sql<{ readonly id: string; readonly days: number }>`
            SELECT id, round(extract(epoch FROM expires_at - now()) / 86400)::int AS days FROM inbound_content
            WHERE account_id = ${account_id} AND starts_with(id, ${id})`,
          (found) => found.map(({ days }) => days),
        )
      const raw = mail(3 * MIB)
      const id = yield* deliver(raw)
      const pieces = Math.ceil(raw.length / InboundContent.PIECE_BYTES)
      assert.deepStrictEqual(
        yield* rows(id),
        Array.from({ length: pieces }, () => 30),
      )
      assert.strictEqual(yield* deliver(raw), id)
      assert.lengthOf(yield* rows("inb_"), pieces)
      const path = `${node.url}/v1/inbound/${id}`
      const headers = { authorization: `Bearer ${key}` }
      const kept = yield* Effect.promise(async () => (await fetch(`${path}/raw`, { headers })).arrayBuffer())
      assert.isTrue(raw.equals(Buffer.from(kept)))
      yield* Effect.promise(() => fetch(path, { method: "DELETE", headers }))
      assert.deepStrictEqual(yield* rows("inb_"), [])
    })

    it.effect("counts towards the day of its account by its size, and a small one as 100 KiB", function* () {
      const { account_id, deliver } = yield* Running
      const { driver: sql } = yield* Sql
      const taken = Effect.map(
        sql<{ readonly count: number }>`SELECT count FROM rate_windows WHERE bucket = ${`day/${account_id}/inbound`}`,
        ([window]) => window?.count ?? 0,
      )
      const counts = [yield* taken]
      for (const raw of [mail(2_000), mail(2 * MIB)]) {
        assert.match(yield* deliver(raw), /^inb_/u)
        counts.push((yield* taken) - counts.reduce((sum, count) => sum + count, 0))
      }
      const [, small, large = 0] = counts
      assert.strictEqual(small, 100)
      assert.approximately(large, 2 * 1024, 2)
    })

    // threat: blocked-loop
    it.effect(
      "holds nobody up, alone or with others, whatever its lines are",
      function* () {
        const { deliver, longestStall } = yield* Running
        // The first mail loads code.
        yield* deliver(mail(1_000))
        const pair = ["1", "2"].map((first) => mail(24 * MIB, `${first}${"x".repeat(60)}\r\n`))
        const mails = [[mail(24 * MIB)], [mail(8 * MIB, "\n")], pair]
        for (const group of mails) {
          yield* longestStall
          const ids = yield* Effect.forEach(group, deliver, { concurrency: "unbounded" })
          assert.isBelow(yield* longestStall, MAX_STALL_MS, String(group[0]?.subarray(-4)))
          for (const id of ids) assert.match(id, /^inb_/u)
        }
      },
      TIMEOUT,
    )
  },
)
