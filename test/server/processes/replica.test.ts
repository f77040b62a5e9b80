import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as StoreDatabase from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Lsn from "@waybill/store/feed/Lsn"
import * as Migrations from "@waybill/store/database/Migrations"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { Waybill } from "../../../packages/client/src/Waybill.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { onDatabase } from "../../support/postgres/databaseUrl.ts"
import * as World from "../../support/world/World.ts"
import * as Standby from "../../support/postgres/Standby.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import { alone } from "../../support/postgres/Database.ts"

describe("a position in the write-ahead log", () => {
  it("is read as Postgres writes it, and compared as a number", () => {
    assert.deepStrictEqual(["0/0", "0/3000148", "1/0", "A/FFFFFFFF", "FFFFFFFF/FFFFFFFF"].map(Lsn.parse), [
      0n,
      0x3000148n,
      0x1_0000_0000n,
      0xa_ffff_ffffn,
      0xffff_ffff_ffff_ffffn,
    ])
    assert.isTrue((Lsn.parse("1/0") ?? 0n) > (Lsn.parse("0/FFFFFFFF") ?? 0n))
    for (const text of ["", "0", "0/", "/0", "0/123456789", "0/G", " 0/0", "0/0\n", undefined, null])
      assert.isUndefined(Lsn.parse(text))
  })
})

interface Pair {
  readonly primary: Redacted.Redacted
  readonly standby: Standby.Standby
}

/** A separate server and its replica, which follows the whole server. */
class Servers extends Context.Service<Servers, Pair>()("test/Servers") {
  static readonly layer = Layer.effect(
    Servers,
    Effect.gen(function* () {
      const dataDir = yield* Effect.promise(async () => {
        const folder = await fs.mkdtemp(join(tmpdir(), "waybill-primary-"))
        await fs.chmod(folder, 0o711)
        return folder
      })
      const primary = yield* EmbeddedPostgres.start({ dataDir, scratch: true })
      yield* Migrations.migrate(primary.url)
      return { primary: primary.url, standby: yield* Standby.follow(primary, dataDir) }
    }),
  )
}

const Replicated = EventStore.layer().pipe(
  Layer.provideMerge(alone),
  Layer.provideMerge(Layer.unwrap(Effect.map(Servers, ({ primary }) => StoreDatabase.layer({ url: primary })))),
  Layer.provideMerge(Servers.layer),
)

/** Runs a query on the replica as superuser. */
const query = (standby: Standby.Standby, statement: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: onDatabase(Redacted.value(standby.adminUrl), "waybill") })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows[0] ?? {}
    } finally {
      await client.end()
    }
  })

layer(Replicated, { excludeTestServices: true, timeout: 60_000 })("nodes with a replica", (it) => {
  it.effect(
    "read logs there once it shows what their reader wrote, and at the primary until then, at a replica that stands still, and when it is gone",
    function* () {
      const { primary, standby } = yield* Servers
      const settings = { ROLES: "api", DATABASE_REPLICA_URL: Redacted.value(standby.url) }
      const [one, other] = yield* Effect.all(
        [ServiceProcess.start(primary, settings), ServiceProcess.start(primary, settings)],
        {
          concurrency: "unbounded",
        },
      )
      const { secret } = yield* World.key(yield* World.account({ limits: { logs: 100_000 } }))
      const post = (path: string, body: unknown) =>
        Effect.promise(() => one.request("POST", path, { key: secret, body }))
      const list = (node: ServiceProcess.ServiceProcess, position?: string) =>
        Effect.promise(() =>
          node.request("GET", "/v1/email/logs", {
            key: secret,
            ...(position === undefined ? {} : { headers: { "x-waybill-position": position } }),
          }),
        )
      const ids = (answer: ServiceProcess.Answer): ReadonlyArray<string> =>
        answer.json.data.map(({ id }: { readonly id: string }) => id)
      const scans = Effect.map(
        query(
          standby,
          "SELECT coalesce(sum(idx_scan + seq_scan), 0)::int AS n FROM pg_stat_user_tables WHERE relname = 'email_log'",
        ),
        ({ n }) => Number(n),
      )
      const isReadFrom = (node: ServiceProcess.ServiceProcess) =>
        Effect.gen(function* () {
          const before = yield* scans
          // Postgres writes its counters with a delay.
          yield* World.until(Effect.andThen(list(node), scans), (n) => n > before, Duration.seconds(45))
        })
      const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "Receipt", text: "Thank you." }
      const send = Effect.gen(function* () {
        const answer = yield* post("/v1/email/send", mail)
        assert.strictEqual(answer.status, 200)
        const position = answer.headers.get("x-waybill-position") ?? assert.fail("no position")
        assert.match(position, /^pos_/u)
        return { id: String(answer.json.id), position }
      })
      const added = yield* post("/v1/domains", { name: "acme.test" })
      assert.match(added.headers.get("x-waybill-position") ?? "", /^pos_/u)

      const first = yield* send
      for (const node of [one, other]) {
        assert.include(ids(yield* list(node, first.position)), first.id)
        yield* isReadFrom(node)
      }

      yield* query(standby, "SELECT pg_wal_replay_pause()")
      // The client sends it to whichever node it reads from.
      const client = new Waybill(secret, {
        baseUrl: one.url,
        fetch: (input, init) =>
          fetch(init?.method === "GET" ? String(input).replace(one.url, other.url) : String(input), init),
      })
      const shown = yield* Effect.promise(async () => {
        const sent = await client.emails.send(mail)
        return (await client.logs.events(sent.id)).data.map(({ type }) => type)
      })
      assert.include(shown, "email.queued")

      const second = yield* send
      // The client's own write and one of another, read by the record and its events.
      assert.include(ids(yield* list(one)), second.id)
      assert.include(ids(yield* list(other, second.position)), second.id)
      for (const path of [second.id, `${second.id}/events`]) {
        const headers = { "x-waybill-position": second.position }
        const { status } = yield* Effect.promise(() =>
          other.request("GET", `/v1/email/logs/${path}`, { key: secret, headers }),
        )
        assert.strictEqual(status, 200, path)
      }
      // A read without the header waits only a moment, though the replica stands still.
      yield* World.until(list(other), (answer) => ids(answer).includes(second.id), Duration.seconds(45))
      assert.include(ids(yield* list(other, "not a position")), second.id)

      yield* query(standby, "SELECT pg_wal_replay_resume()")
      for (const node of [one, other]) yield* isReadFrom(node)

      yield* standby.kill
      const third = yield* send
      assert.include(ids(yield* list(one)), third.id)
      yield* World.until(list(other), (answer) => ids(answer).includes(third.id), Duration.seconds(45))
      for (const node of [one, other]) assert.strictEqual(yield* node.stop, 0)
    },
    600_000,
  )
})
