import * as ExaminedPage from "@waybill/store/readmodels/ExaminedPage"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

layer(Database.layerFresh, { excludeTestServices: true })("a page of a rare filter", (it) => {
  it.effect("ends early and continues from there", function* () {
    const sql = yield* Sql
    yield* sql`
      INSERT INTO suppressions (account_id, address, version, id, reason, active, record)
      SELECT 'acc_1', n || '@example.org', 1, 'sup_' || lpad(n::text, 6, '0'), 'manual', true, jsonb_build_object('nth', n)
      FROM generate_series(1, ${ExaminedPage.MAX_EXAMINED + 10}::int) AS n`
    const page = (over: Partial<Suppressions.ListQuery>) =>
      Effect.map(Suppressions.list({ account_id: "acc_1", limit: 2, ...over }), ({ data, ...rest }) => ({
        ...rest,
        ids: data.map((record) => (record as { readonly nth?: number }).nth),
      }))
    const rare = { q: "5@example.org", reason: "manual" } as const
    const none = yield* page({ q: "nobody" })
    assert.deepStrictEqual(none, { ids: [], has_more: true, next_cursor: "sup_000011" })
    assert.deepStrictEqual(yield* page({ q: "nobody", after: "sup_000011" }), {
      ids: [],
      has_more: false,
      next_cursor: null,
    })
    const first = yield* page(rare)
    assert.deepStrictEqual(first, { ids: [10_005, 9_995], has_more: true, next_cursor: "sup_009995" })
    assert.deepStrictEqual((yield* page({ after: "sup_009995" })).ids, [9_994, 9_993])
  })
})
