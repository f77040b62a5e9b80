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
        INSERT INTO templates (account_id, id, version, alias, kind, archived, current, record, draft, uses)
        SELECT ${account}, 'tpl_' || lpad(n::text, 32, '0'), 1, NULL, 'template', false, 0, '{}', '{}', '{}'
        FROM generate_series(1, 5000) AS n`
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
      assert.isBelow(took, 2_000)
    })

    // The list of versions ends at 200, so that an edit moved the first one of a name out of it.
    it.effect("SendGrid: a version keeps its id after hundreds of edits", function* () {
      const { account, key, world } = yield* signUp({ domains: ["acme.test"] })
      const sendgrid = (method: string, path: string, body?: object) =>
        world.request(method, `/compat/sendgrid${path}`, { key, ...(body === undefined ? {} : { body }) })
      const { json: template } = yield* sendgrid("POST", "/v3/templates", { name: "Order", generation: "dynamic" })
      const path = `/v3/templates/${template.id}`
      const make = (name: string) =>
        sendgrid("POST", `${path}/versions`, { name, subject: "Hi", html_content: `<p>${name}</p>` })
      const first = yield* make("One")
      const second = yield* make("Two")
      const ids = [second.json.id, first.json.id]
      yield* world.sql`
        INSERT INTO template_versions (account_id, template_id, number, version, record, source, uses)
        SELECT account_id, template_id, 10 + n, 10 + n, record || jsonb_build_object('number', 10 + n), source, uses
        FROM template_versions, generate_series(1, 210) AS n WHERE account_id = ${account} AND number = 2`
      const found = yield* Effect.forEach(ids, (id) => sendgrid("GET", `${path}/versions/${id}`))
      assert.deepStrictEqual(
        found.map(({ json }) => [json.id, json.name, json.active, json.html_content]),
        [
          [second.json.id, "Two", 1, "<p>Two</p>"],
          [first.json.id, "One", 0, "<p>One</p>"],
        ],
      )
      const { json: whole } = yield* sendgrid("GET", path)
      assert.strictEqual(whole.versions[0].id, second.json.id)
    })

    it.effect("SendGrid: edits at once publish their own words each", function* () {
      const { key, world } = yield* signUp({ domains: ["acme.test"] })
      const sendgrid = (method: string, path: string, body?: object) =>
        world.request(method, `/compat/sendgrid${path}`, { key, ...(body === undefined ? {} : { body }) })
      const { json: template } = yield* sendgrid("POST", "/v3/templates", { name: "Order", generation: "dynamic" })
      const path = `/v3/templates/${template.id}/versions`
      for (let nth = 0; nth < 5; nth++) {
        const made = yield* Effect.all(
          ["A", "B"].map((name) =>
            sendgrid("POST", path, { name: `${name}${nth}`, subject: name, html_content: `<p>${name}</p>` }),
          ),
          { concurrency: 2 },
        )
        for (const { json, status } of made) {
          assert.strictEqual(status, 201, JSON.stringify(json))
          assert.strictEqual(json.html_content, `<p>${json.subject}</p>`)
          assert.strictEqual(json.subject, json.name.slice(0, 1))
        }
      }
    })
  },
)
