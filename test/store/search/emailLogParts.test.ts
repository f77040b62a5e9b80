import type { Address } from "@waybill/domain/values/Address"
import { Sql } from "@waybill/store/postgres/Sql"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as EmailWords from "@waybill/store/search/EmailWords"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { account, follow, type Message, message, write } from "./emailLogRows.ts"

/** More than are searched by their lists, so that the first events are read. */
const TEXTS = EmailLogQuery.MAX_TEXTS + 100
/** Messages after those, which make the part look rare. */
const LATER = 200

const older = Array.from({ length: TEXTS }, (_, nth): Message => {
  const scanned = `scanned${nth}@example.org` as Address
  // In some messages the recipient is a further one, which the row of the log does not have.
  const to =
    nth % 50 === 0 ? ([scanned, `other${nth}@example.org`, `third${nth}@example.org`] as Array<Address>) : [scanned]
  return { ...message(nth), to }
})
const later = Array.from({ length: LATER }, (_, nth) => message(TEXTS + nth))
const just: Message = { ...message(TEXTS + LATER), to: ["scanned.just@example.org" as Address] }

const LIMIT = 100
const query = { account_id: account(1), limit: LIMIT, recipient: "scanned" }

/** Reads all pages. */
const found = Effect.fnUntraced(function* (recipient = query.recipient) {
  const ids: Array<unknown> = []
  for (let after: string | null | undefined; after !== null;) {
    const page = yield* EmailLogQuery.list({ ...query, recipient, ...(after === undefined ? {} : { after }) })
    ids.push(...page.data.map((record) => record["id"]))
    after = page.next_cursor
  }
  return ids
})

layer(Database.layerFresh, { excludeTestServices: true })("a part of many texts", (it) => {
  it.effect("is found in the rows of the log and among further terms, each message once", function* () {
    yield* write(account(1), [...older, ...later])
    yield* follow(account(1), [...older, ...later])
    assert.deepStrictEqual(yield* found(), older.map(({ id }) => id).toReversed())
  })

  it.effect("is found in mail that was accepted just now, which the follower has not read", function* () {
    yield* write(account(1), [just])
    assert.strictEqual((yield* found())[0], just.id)
  })

  it.effect("is found where a word of the address begins and ends, if its marks say so", function* () {
    const all = yield* found()
    assert.deepStrictEqual(yield* found("^scanned"), all)
    assert.deepStrictEqual(yield* found("^example"), yield* found("example"))
    assert.deepStrictEqual(yield* found("^Scanned$"), [just.id])
    assert.deepStrictEqual(yield* found("^JUST$"), [just.id])
    assert.deepStrictEqual(yield* found("^canned"), [])
    const counted = yield* EmailLogQuery.count({ ...query, recipient: "^scanned$" })
    assert.deepStrictEqual(counted, { count: 1, is_exact: true })
  })

  it.effect("reads a bounded number of events behind the follower", function* () {
    const sql = yield* Sql
    const read = (limit: number) =>
      EmailWords.withPart(sql, account(1), EmailWords.part("scanned", "recipient"), sql.literal("true"), limit)
    const before = yield* read(TEXTS)
    assert.lengthOf(before?.unread ?? [], 1)
    assert.isUndefined(yield* read(TEXTS - 1))
    yield* sql`
      INSERT INTO events (account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
      SELECT ${account(1)}, 'msg_other' || n, 1, 'email', 'EmailOpened', 'evt_other' || n, '{}', '{}', now()
      FROM generate_series(1, ${EmailWords.MAX_UNREAD}::int) AS n`
    assert.isUndefined(yield* read(TEXTS))
    // The log itself is read then.
    assert.strictEqual((yield* found())[0], just.id)
  })
})
