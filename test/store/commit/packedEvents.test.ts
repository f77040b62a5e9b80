import * as Email from "@waybill/domain/email/Email"
import * as EventView from "@waybill/store/packed/EventView"
import * as Layouts from "@waybill/store/packed/Layout"
import * as PackedEvent from "@waybill/store/packed/PackedEvent"
import * as PackedSql from "@waybill/store/packed/PackedSql"
import { type Provenance, system } from "@waybill/store/log/Provenance"
import { Effect, Redacted } from "effect"
import { PgClient } from "@effect/sql-pg"
import type { Fragment } from "effect/sql/Statement"
import { readdirSync, readFileSync } from "node:fs"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { pick, randomNumbers, vary } from "../rebuild/randomHistories.ts"

const fixtures = (folder: string) => new URL(`../../fixtures/${folder}/`, import.meta.url)
const STREAM = "msg_01m7ynaym0e008000000000001"

type Event = Parameters<typeof PackedEvent.pack>[0]

const KEY: Provenance = {
  actor: { type: "api_key", id: "key_01m7ynaym0e008000000000001" },
  request_id: "req_01m7ynaym0e008000000000001",
  correlation_id: "req_01m7ynaym0e008000000000001",
  causation_id: null,
  address: "192.0.2.1",
}
const PROVENANCES: ReadonlyArray<Provenance> = [
  KEY,
  system,
  { ...KEY, actor: { type: "user", id: "usr_01m7ynaym0e008000000000001" }, correlation_id: null, address: "::1" },
  { ...system, actor: { type: "operator", id: null }, causation_id: "evt_01m7ynaym0e008000000000001" },
  { ...KEY, actor: { type: "api_key", id: "\tweird\n" }, request_id: "\\", address: "" },
]

/** The example of each event of a message. */
const EXAMPLES: ReadonlyArray<Event> = readdirSync(fixtures("events"))
  .filter((file) => Object.hasOwn(Email.Event.cases, file.replace(/\..*$/u, "")))
  .map((file) => ({
    type: file.replace(/\..*$/u, ""),
    stream_id: STREAM,
    data: JSON.parse(readFileSync(new URL(file, fixtures("events")), "utf8")).data,
    meta: { ...KEY, schema_version: 1 },
  }))

/** Events with all kinds of values in all places, also such as no schema allows. */
const events = (seed: number, count: number): ReadonlyArray<Event> => {
  const roll = randomNumbers(seed)
  return Array.from({ length: count }, () => {
    const example = pick(EXAMPLES, roll)
    const data = { ...(vary(example.data, "", roll) as Record<string, unknown>) }
    for (const name of Object.keys(data)) {
      if (roll() < 0.15)
        data[name] = pick([null, [], {}, "", "[", "\\", "\\N", "\t", 0, -1, 0.5, true, false, ["a"], { a: 1 }], roll)
      if (name === "message_id" && roll() < 0.5) data[name] = `<${STREAM}@${String(data["domain"])}>`
    }
    return { ...example, data, meta: { ...pick(PROVENANCES, roll), schema_version: roll() < 0.9 ? 1 : 2 } }
  })
}

/** The value as `jsonb` returns it. */
const asJsonb = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asJsonb)
  if (typeof value !== "object" || value === null) return value
  const bytes = (key: string) => Buffer.from(key)
  const order = (a: string, b: string) => bytes(a).length - bytes(b).length || Buffer.compare(bytes(a), bytes(b))
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => order(a, b))
      .map(([key, each]) => [key, asJsonb(each)]),
  )
}

/** Reads a packed event from the middle of some bytes, as a rebuild does. */
const viewOf = (type: string, text: string) => {
  const bytes = Buffer.from(`é\t${text}\té`)
  const source = {
    isAscii: (from: number, to: number) => bytes.subarray(from, to).every((byte) => byte < 128),
    latin1: (from: number, to: number) => bytes.toString("latin1", from, to),
    utf8: (from: number, to: number) => bytes.toString("utf8", from, to),
  }
  return EventView.read(type, STREAM, source, 3, bytes.length - 3)
}

describe("a packed event", () => {
  it("unpacks to the same bytes of JSON", () => {
    let packed = 0
    for (const event of events(1, 20_000)) {
      const text = PackedEvent.pack(event)
      if (text === null) continue
      packed++
      const { data, meta } = PackedEvent.unpack(event.type, STREAM, text)
      assert.strictEqual(JSON.stringify(data), JSON.stringify(asJsonb(event.data)))
      assert.strictEqual(JSON.stringify(meta), JSON.stringify(asJsonb(event.meta)))
      const { schema_version, ...only } = PackedEvent.unpackData(event.type, STREAM, text)
      assert.deepStrictEqual({ data, schema_version: meta.schema_version }, { ...only, schema_version })
      const view = viewOf(event.type, text)
      assert.strictEqual(view === undefined, meta.schema_version !== 1)
      if (view === undefined) continue
      assert.strictEqual(view._tag, event.type)
      for (const { name } of Layouts.LAYOUTS[event.type] ?? [])
        assert.strictEqual(JSON.stringify(view[name]), JSON.stringify(data[name]), name)
    }
    assert.isAbove(packed, 19_000)
  })

  it("has each field that an event of a message can have", () => {
    const fields = Object.entries(Email.Event.cases).map(([type, { fields }]) => [
      type,
      Object.keys(fields)
        .filter((name) => name !== "_tag")
        .sort(),
    ])
    const layouts = Object.entries(Layouts.LAYOUTS).map(([type, layout]) => [
      type,
      layout.map(({ name }) => name).sort(),
    ])
    assert.deepStrictEqual(Object.fromEntries(layouts), Object.fromEntries(fields))
  })

  it("is written as it always was", () => {
    const golden = JSON.parse(readFileSync(new URL("emails.json", fixtures("packed")), "utf8"))
    assert.deepStrictEqual(Object.fromEntries(EXAMPLES.map((event) => [event.type, PackedEvent.pack(event)])), golden)
  })

  it("takes no bytes for absent fields at its end, and is read with and without them", () => {
    const example = EXAMPLES.find(({ type }) => type === "EmailQueued") ?? assert.fail("no example")
    const metadata = { order: "7041", "a\tb": "1\n2", ["__proto__"]: "own" }
    const without = PackedEvent.pack(example) ?? assert.fail("not packed")
    const withMetadata = PackedEvent.pack({ ...example, data: { ...example.data, metadata } }) ?? assert.fail()
    assert.isTrue(withMetadata.startsWith(`${without}\t`))
    const dataOf = (text: string) => PackedEvent.unpack("EmailQueued", STREAM, text).data
    assert.notProperty(dataOf(without), "metadata")
    assert.deepStrictEqual(dataOf(`${without}\t\t\t`), dataOf(without))
    assert.deepStrictEqual(
      Object.entries(dataOf(withMetadata)["metadata"] as object).toSorted(),
      Object.entries(metadata).toSorted(),
    )
  })

  it("that ends before a field lacks the field", () => {
    const [type, text] = ["EmailCanceled", "\t\t\t\t\t\t2026-11-21T09:00:00.000Z"]
    assert.deepStrictEqual(PackedEvent.unpack(type, STREAM, text).data, { at: "2026-11-21T09:00:00.000Z" })
    const cut = text.slice(0, text.lastIndexOf("\t"))
    assert.deepStrictEqual(PackedEvent.unpack(type, STREAM, cut).data, {})
  })

  it("is no form for an event of another kind, with a field too many or too few, or with a NUL", () => {
    const example = EXAMPLES.find(({ type }) => type === "EmailOpened") ?? assert.fail("no example")
    const { at: _, ...rest } = example.data
    for (const event of [
      { ...example, type: "AccountCreated" },
      { ...example, data: { ...example.data, another: 1 } },
      { ...example, data: rest },
      { ...example, data: { ...example.data, user_agent: "a\u0000b" } },
      { ...example, meta: { ...example.meta, another: 1 } },
    ])
      assert.isNull(PackedEvent.pack(event))
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("SQL", (it) => {
  it.effect("reads the same fields of an event, packed or as JSON", () =>
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const read = Effect.gen(function* () {
        const sql = yield* Sql
        const fieldsOf = (type: string) => {
          const text = (Layouts.LAYOUTS[type] ?? []).filter(
            ({ form, usual }) => form === "text" && usual._tag !== "Derived",
          )
          const fragments: Array<Fragment> = text.map(({ name }) => PackedSql.field(sql, "e", type, name))
          for (const name of ["actor", "address", "request_id"] as const)
            if (name !== "actor") fragments.push(PackedSql.metaField(sql, "e", name))
          fragments.push(PackedSql.occurredAt(sql, "e"))
          if (type === "EmailQueued") {
            for (const kind of ["to", "cc", "bcc"])
              fragments.push(
                sql`ARRAY(SELECT mailbox_address(m) FROM ${PackedSql.items(sql, "e", type, kind)} AS m)::text`,
              )
            fragments.push(sql`ARRAY(SELECT t #>> '{}' FROM ${PackedSql.items(sql, "e", type, "tags")} AS t)::text`)
            fragments.push(sql`ARRAY(SELECT * FROM ${PackedSql.contentHashes(sql, "e")})::text`)
          }
          return sql`SELECT nth, ARRAY[${sql.csv(fragments)}] AS fields FROM e ORDER BY nth`
        }
        const mailbox = (each: unknown) => typeof (each as { address?: unknown } | null)?.address === "string"
        for (const [type, all] of Map.groupBy(events(2, 3_000), ({ type }) => type)) {
          // SQL only ever sees lists where the schema has lists.
          const sane = all.filter(
            ({ data }) =>
              ["to", "cc", "bcc"].every(
                (kind) => data[kind] === undefined || (Array.isArray(data[kind]) && data[kind].every(mailbox)),
              ) &&
              (data["tags"] === undefined || Array.isArray(data["tags"])) &&
              (data["content"] === undefined ||
                typeof (data["content"] as { sha256?: unknown } | null)?.sha256 === "string"),
          )
          const rows = sane.flatMap((event, nth) => {
            const packed = PackedEvent.pack(event)
            return packed === null ? [] : [{ nth, ...event, packed }]
          })
          assert.isAbove(rows.length, 50, type)
          const table = (isPacked: boolean) =>
            sql`WITH e AS (SELECT * FROM jsonb_to_recordset(${sql.json(
              rows.map(({ data, meta, nth, packed }) => (isPacked ? { nth, packed } : { nth, data, meta })),
            )}) AS r(nth int, data jsonb, meta jsonb, packed text)) ${fieldsOf(type)}`
          assert.deepStrictEqual(yield* table(true), yield* table(false), type)
        }
      })
      yield* Effect.provide(read, PgClient.layer({ url: Redacted.make(Redacted.value(url)) }))
    }),
  )
})
