import { Effect, Redacted } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { buildLog, problemOf } from "../../support/world/logTree.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "240 seconds" })("the log", (it) => {
  const waybill = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
    const { url } = yield* Database.Fresh
    const env = { WAYBILL_DATA: NOWHERE, DATABASE_URL: Redacted.value(url) }
    const { errors, exit, output } = yield* CommandLine.typeWith(env, ...words)
    return { code: CommandLine.codeOf(exit), output, errors }
  })
  const audit = Effect.gen(function* () {
    const { code, errors, output } = yield* waybill("audit", "log", "--json")
    const [row] = JSON.parse(output) as ReadonlyArray<{
      readonly leaves: number
      readonly without_data: number
      readonly differences: ReadonlyArray<{ readonly problem: string; readonly event_id: string | null }>
    }>
    return { code, errors, ...(row ?? assert.fail(errors)) }
  })
  /** An account with a mail whose history is in the log, and what the log says once it is changed by hand. */
  const setUp = Effect.gen(function* () {
    const { call, key, send, world } = yield* signUp({ domains: ["acme.test"] })
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const id = yield* send({ scheduled_at: soon })
    yield* call("POST", `/v1/email/${id}/cancel`)
    yield* buildLog
    const receipt = call("GET", `/v1/email/${id}/receipt`)
    assert.strictEqual((yield* receipt).status, 200)
    const before = yield* audit
    assert.deepStrictEqual([before.code, before.differences], [0, []], before.errors)
    const problems = Effect.map(audit, ({ code, differences }) => {
      assert.strictEqual(code, 3)
      return differences.map(({ problem }) => problem)
    })
    return { call, id, key, problems, receipt, world, sql: world.sql }
  })
  const MISMATCH = [422, "receipt_mismatch"] as const

  it.effect("shows that an event was changed", function* () {
    const { id, problems, receipt, sql } = yield* setUp
    const [row] = yield* sql<{ readonly packed: string }>`
      SELECT packed FROM events WHERE stream_id = ${id} AND version = 1`
    const set = (packed: string) => sql`UPDATE events SET packed = ${packed} WHERE stream_id = ${id} AND version = 1`
    yield* set((row?.packed ?? "").replace("Hello", "Hallo"))
    assert.deepStrictEqual(reasonOf(yield* receipt), MISMATCH)
    assert.deepStrictEqual(yield* problems, ["changed"])
    yield* set(row?.packed ?? "")
    assert.strictEqual((yield* receipt).status, 200)
  })

  it.effect("shows that an event was removed", function* () {
    const { id, problems, receipt, sql } = yield* setUp
    yield* sql`CREATE TABLE taken AS SELECT * FROM events WHERE stream_id = ${id} AND version = 2`
    yield* sql`DELETE FROM events WHERE stream_id = ${id} AND version = 2`
    assert.deepStrictEqual(reasonOf(yield* receipt), MISMATCH)
    assert.deepStrictEqual(yield* problems, ["removed"])
    yield* sql`INSERT INTO events SELECT * FROM taken`
  })

  it.effect("shows that an event was added among others", function* () {
    const { id, problems, receipt, sql } = yield* setUp
    yield* sql`
      INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, packed, recorded_at)
      SELECT 0, account_id, stream_id, 3, stream, type, 'evt_forged', data, meta, packed, recorded_at
      FROM events WHERE stream_id = ${id} AND version = 2`
    assert.deepStrictEqual(reasonOf(yield* receipt), MISMATCH)
    assert.deepStrictEqual(yield* problems, ["not in the log"])
    yield* sql`DELETE FROM events WHERE event_id = 'evt_forged'`
  })

  it.effect("shows that events were reordered", function* () {
    const { id, problems, receipt, sql } = yield* setUp
    const rows = yield* sql<{ readonly position: bigint }>`
      SELECT position FROM events WHERE stream_id = ${id} ORDER BY version`
    const [first = 0n, second = 0n] = rows.map(({ position }) => position)
    const move = (from: bigint, to: bigint) =>
      sql`UPDATE events SET position = ${to}::bigint WHERE position = ${from}::bigint`
    const swap = Effect.all([move(first, -1n), move(second, first), move(-1n, second)])
    yield* swap
    assert.deepStrictEqual(yield* problems, ["out of order"])
    yield* swap
    const renumber = (from: number, to: number) =>
      sql`UPDATE events SET version = ${to}::int WHERE stream_id = ${id} AND version = ${from}::int`
    yield* Effect.all([renumber(1, 9), renumber(2, 1), renumber(9, 2)])
    assert.deepStrictEqual(reasonOf(yield* receipt), MISMATCH)
    assert.sameMembers([...(yield* problems)], ["changed", "changed", "out of order"])
    yield* Effect.all([renumber(1, 9), renumber(2, 1), renumber(9, 2)])
  })

  it.effect("shows that its own tree was changed with an event", function* () {
    const { problems, receipt, sql } = yield* setUp
    const flip = sql`UPDATE log_tiles SET hashes = set_byte(hashes, length(hashes) - 1, 255 - get_byte(hashes, length(hashes) - 1)) WHERE level = 0`
    yield* flip
    assert.deepStrictEqual(reasonOf(yield* receipt), MISMATCH)
    assert.include(yield* problems, "the tree was changed")
    yield* flip
  })

  it.effect("gives receipts that no changed byte leaves valid", function* () {
    const { receipt } = yield* setUp
    const { json } = yield* receipt
    /** Everything but the record, which is not signed, and the names of the form. */
    const { email, ...proof } = json
    const text = JSON.stringify(proof)
    let tried = 0
    for (let at = 0; at < text.length; at++) {
      const letter = text[at] ?? ""
      if (!/[A-Za-z0-9]/u.test(letter)) continue
      const changed = `${text.slice(0, at)}${letter === "A" ? "B" : "A"}${text.slice(at + 1)}`
      let read: unknown
      try {
        read = JSON.parse(changed)
      } catch {
        continue
      }
      tried++
      const problem = yield* problemOf({ ...(read as object), email })
      if (problem === undefined && !isSameBytes(read, proof))
        assert.fail(`changed at ${at}: ${text.slice(at - 30, at + 30)}`)
    }
    assert.isAbove(tried, 1_000)
  })

  it.effect("keeps hashes of erased mail that say nothing", function* () {
    const { call, id, receipt } = yield* setUp
    const { json: before } = yield* receipt
    const erased = yield* waybill("erase", "ana@example.org", "--yes", "--json")
    assert.strictEqual(erased.code, 0, erased.errors)
    yield* buildLog
    assert.deepStrictEqual(reasonOf(yield* receipt), [422, "receipt_erased"])
    const { json: hidden } = yield* call("GET", `/v1/email/${id}`)
    assert.notStrictEqual(hidden.to[0], "ana@example.org")
    // Who has kept the receipt can still prove it; nobody else can, because the salt is nowhere in the database.
    assert.isUndefined(yield* problemOf(before))
    const world = yield* HttpWorld
    const [row] = yield* world.sql<{ readonly salts: number }>`
      SELECT count(*)::int AS salts FROM log_leaves WHERE salt IS NOT NULL AND stream_key = id_key(${id})`
    assert.strictEqual(row?.salts, 0)
    assert.strictEqual((yield* audit).code, 0)
  })

  it.effect("proves no event by the proof of another one, and by no head of another log", function* () {
    const { receipt, sql } = yield* setUp
    const { json } = yield* receipt
    const [queued, canceled] = json.events
    const swapped = [
      { ...queued, proof: canceled.proof },
      { ...canceled, proof: queued.proof },
    ]
    assert.strictEqual(yield* problemOf({ ...json, events: swapped }), "Every event is in the log")
    // The same key signs another history of the same size: what a log would show to somebody else.
    yield* sql`UPDATE log_heads SET root = sha256(root)`
    yield* sql`UPDATE log_trees SET size = size - 1`
    yield* buildLog
    const { text: fork } = yield* (yield* HttpWorld).request("GET", "/log/checkpoint")
    assert.strictEqual(fork.split("\n")[1], json.checkpoint.split("\n")[1])
    assert.strictEqual(yield* problemOf({ ...json, checkpoint: fork }), "Every event is in the log")
    assert.deepStrictEqual(reasonOf(yield* receipt), MISMATCH)
  })
})

/** Whether only unused bits of base64, or names that nothing depends on, differ. */
const isSameBytes = (one: unknown, other: unknown): boolean =>
  JSON.stringify(decoded(one)) === JSON.stringify(decoded(other))
const decoded = (value: unknown): unknown => {
  if (typeof value === "string")
    return /^[\w-]{43}$/u.test(value) ? Buffer.from(value, "base64url").toString("hex") : value
  if (Array.isArray(value)) return value.map(decoded)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, decoded(each)]))
}
