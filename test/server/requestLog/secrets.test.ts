import { Api } from "@waybill/api/Api"
import { RequestLogWriter } from "@waybill/store/requests/RequestLogWriter"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { assert, layer } from "../../support/effectTest.ts"
import { EMAIL, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

/** Part of every secret that the test sends. */
const MARK = "MARKED7SECRET"
const TOKEN = `wb_${MARK}0aB1cD2eF3gH4iJ5kL6mN7`
const LINK = `https://example.org/reset?token=${MARK}`

const headers = { "X-Auth-Token": MARK, Authorization: `Bearer ${MARK}1`, "X-Trace": TOKEN, "X-Link": LINK }
const CONTENT = { html: `<p>${MARK}</p>`, text: MARK, attachments: [{ filename: "a.txt", content: btoa(MARK) }] }

/** Fields that hold secrets or content somewhere, in our own words and in those of other services. */
const FIELDS = {
  ...CONTENT,
  headers,
  description: TOKEN,
  url: LINK,
  name: TOKEN,
  subject: `Your code ${TOKEN} at ${LINK}`,
  password: MARK,
  secret: MARK,
  token: MARK,
  api_key: MARK,
  HtmlBody: MARK,
  TextBody: MARK,
  TemplateModel: { name: MARK },
  Headers: [{ Name: "X-Secret", Value: MARK }],
  Attachments: [{ Name: "a", Content: btoa(MARK) }],
  content: [{ type: "text/plain", value: MARK }],
  personalizations: [
    { to: [{ email: "ana@example.org" }], dynamic_template_data: { name: MARK }, substitutions: { a: MARK } },
  ],
  htlm: MARK,
  [`${TOKEN}`]: 1,
}

const DOORS = [
  "/compat/resend/emails",
  "/compat/resend/emails/batch",
  "/compat/resend/domains",
  "/compat/postmark/email",
  "/compat/postmark/email/batch",
  "/compat/sendgrid/v3/mail/send",
]

layer(HttpWorld.layer({ requestLog: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "secrets in the request log",
  (it) => {
    // threat: request-log
    it.effect("are not in its table, whatever endpoint they were sent to", function* () {
      const { account, key, key_id, world } = yield* signUp({ domains: ["acme.test"] })
      const send = (method: string, path: string, body: unknown) =>
        world.request(method, path, {
          key,
          ...(method === "GET" ? {} : { body }),
          headers: { cookie: MARK, "x-secret": MARK, "x-postmark-server-token": key },
        })
      const operations = Object.entries(OpenApi.fromApi(Api).paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
      )
      const paths = operations.filter(([, path]) => path.startsWith("/v1/") && !path.endsWith("/stream"))
      // The key that the test sends with stays valid.
      for (const [method, path] of [...paths, ...DOORS.map((path) => ["POST", path] as const)]) {
        // There are more of them than requests that a key may send within a minute.
        yield* Effect.orDie(world.sql`DELETE FROM rate_windows`)
        yield* send(method, `${path.replaceAll(/\{\w+\}/gu, TOKEN)}?token=${MARK}&to=${TOKEN}`, FIELDS)
        yield* send(method, path.replaceAll(/\{\w+\}/gu, TOKEN), FIELDS)
      }
      const sent = yield* send("POST", "/v1/email/send", { ...EMAIL, ...CONTENT, headers: { "X-Trace": TOKEN } })
      assert.strictEqual(sent.status, 200, sent.text)
      const batch = { emails: [{ ...EMAIL, ...CONTENT }] }
      assert.strictEqual((yield* send("POST", "/v1/email/send/batch", batch)).status, 200)
      const webhook = { url: LINK, events: ["*"], description: TOKEN }
      const made = yield* send("POST", "/v1/webhooks", webhook)
      assert.strictEqual(made.status, 201, made.text)
      const { From, ...rest } = { From: EMAIL.from, To: EMAIL.to, Subject: EMAIL.subject, HtmlBody: MARK }
      assert.strictEqual((yield* send("POST", "/compat/postmark/email", { From, ...rest })).status, 200)
      for (const nth of [1, 2]) yield* send("POST", "/v1/email/send", `${MARK}${nth}`)

      yield* (yield* RequestLogWriter)?.flush ?? Effect.void
      const rows = yield* Effect.orDie(world.sql<{ readonly row: string }>`
        SELECT r::text AS row FROM request_log r WHERE account_id = ${account}`)
      assert.isAbove(rows.length, 2 * paths.length)
      assert.deepStrictEqual(
        rows.filter(({ row }) => row.includes(MARK) || row.includes(btoa(MARK)) || row.includes(key)),
        [],
      )
      assert.isTrue(rows.every(({ row }) => row.includes(key_id)))
    })
  },
)
