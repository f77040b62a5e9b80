import * as Audit from "@waybill/store/operations/Audit"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

layer(Database.layerFresh, { excludeTestServices: true })("the audit", (it) => {
  it.effect("finds changes among any amount of mail, through its own index", function* () {
    const sql = yield* Sql
    yield* sql`
        INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
        SELECT nextval('event_position'), 'acc_1', 'msg_' || n, 1, 'email', 'EmailQueued', 'evt_' || n, '{}', '{"actor":{"type":"api_key","id":"key_1"}}', now()
        FROM generate_series(1, 20000) AS n`
    yield* sql`
        INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
        SELECT nextval('event_position'), 'acc_1', 'dom_' || n, 1, 'domain', 'DomainAdded', 'evt_d' || n, '{}',
          jsonb_build_object('actor', jsonb_build_object('type', CASE WHEN n % 2 = 0 THEN 'system' ELSE 'user' END)), now()
        FROM generate_series(1, 20) AS n`
    yield* sql`ANALYZE events`
    const query = { account_id: "acc_1", limit: 5, before: 1_000_000_000n }
    assert.deepStrictEqual(
      (yield* Audit.list(query)).entries.map(({ stream_id }) => stream_id),
      ["dom_19", "dom_17", "dom_15", "dom_13", "dom_11"],
    )
    // A rare filter ends its page early and continues from there.
    const domain = (nth: number) => ({
      ...query,
      matches: (entry: Audit.NamedEntry) => entry.stream_id === `dom_${nth}`,
    })
    yield* sql`
      INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
      SELECT nextval('event_position'), 'acc_1', 'sup_' || n, 1, 'suppression', 'SuppressionAdded', 'evt_s' || n, '{}', '{"actor":{"type":"user"}}', now()
      FROM generate_series(1, ${Audit.MAX_EXAMINED}::int) AS n`
    const first = yield* Audit.list(domain(3))
    assert.deepStrictEqual([first.entries, first.next === null], [[], false])
    const second = yield* Audit.list({ ...domain(3), before: first.next ?? 0n })
    assert.deepStrictEqual([second.entries.map(({ stream_id }) => stream_id), second.next], [["dom_3"], null])
    const [text, values] = Audit.statement(sql, query).compile()
    const plan = yield* sql.unsafe(`EXPLAIN ${text}`, values)
    const lines = plan.map((row) => String(Object.values(row)[0])).join("\n")
    assert.include(lines, "events_audit")
    assert.notInclude(lines, "Sort")
  })
})
