import { Effect } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import { processorMs } from "../../../support/processorMs.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"

layer(HttpWorld.layer({ minuteStands: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "many templates of other services",
  (it) => {
    // Each message read the ids of all templates, and hashed each of them.
    it.effect("Postmark: numbers of a batch are looked up in one list of templates", function* () {
      const { account, key, world } = yield* signUp({ domains: ["acme.test"] })
      yield* world.sql`
        INSERT INTO templates (account_id, id, version, alias, kind, archived, current, record, draft)
        SELECT ${account}, 'tpl_' || lpad(n::text, 32, '0'), 1, NULL, 'template', false, 0, '{}', '{}'
        FROM generate_series(1, 1000) AS n`
      const Messages = Array.from({ length: 500 }, (_, nth) => ({
        From: "hi@acme.test",
        To: "ana@example.org",
        TemplateId: nth + 1,
        TemplateModel: {},
      }))
      const headers = { "x-postmark-server-token": key }
      const began = processorMs()
      const answer = yield* world.request("POST", "/compat/postmark/email/batchWithTemplates", {
        key: null,
        headers,
        body: { Messages },
      })
      const took = processorMs() - began
      assert.deepStrictEqual(
        [answer.status, answer.json.length, answer.json[499].ErrorCode],
        [200, 500, 1101],
        answer.text.slice(0, 300),
      )
      assert.isBelow(took, 1_000)
    })
  },
)
