import { rowsOf } from "@waybill/store/log/BatchTable"
import * as GroupCommit from "@waybill/store/commit/GroupCommit"
import { makeDeps } from "@waybill/store/commit/EventStore"
import * as StoredContent from "@waybill/store/content/StoredContent"
import { Sql } from "@waybill/store/postgres/Sql"
import { Result } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { logStorage } from "../../support/logStorage.ts"
import * as Database from "../../support/postgres/Database.ts"
import { send } from "./commits.ts"

/** The order of `BatchTables` from its end, simple expressions after the others, then the log. */
const ORDER = ["outbox", "email_subjects", "monthly_usage", "content", "idempotency_keys", "email_log", "events"]

layer(Database.layerFresh, { excludeTestServices: true })("a batch", (it) => {
  it.effect("writes its tables in one order, the log last", function* () {
    const sql = yield* Sql
    yield* sql`CREATE TABLE written (nth int GENERATED ALWAYS AS IDENTITY, name text)`
    yield* sql.unsafe(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO written (name) VALUES (TG_TABLE_NAME); RETURN NULL; END'`)
    for (const name of ORDER) {
      const event = name === "monthly_usage" ? "UPDATE" : "INSERT"
      yield* sql.unsafe(`CREATE TRIGGER note BEFORE ${event} ON ${name} FOR EACH STATEMENT EXECUTE FUNCTION note()`)
    }
    const account_id = id("AccountId")
    const content = { account_id, sha256: "00".repeat(32), bytes: Buffer.from("a"), expires_on: "2999-01-01" }
    const { decide, ...commit } = send(account_id)
    const group = yield* GroupCommit.make({ storage: yield* logStorage, ...makeDeps() })
    yield* group.submit({
      ...commit,
      idempotency: { account_id, route: "send", key: "k", fingerprint: "f", encode: () => new Uint8Array() },
      decide: (view) =>
        Result.map(decide(view), (decision) => ({
          ...decision,
          rows: [rowsOf(StoredContent.table, [content])],
        })),
    })
    const written = yield* sql<{ readonly name: string }>`SELECT name FROM written ORDER BY nth`
    assert.deepStrictEqual(
      written.map(({ name }) => name),
      ORDER,
    )
  })
})
