import { type Errors, type Message, ServerClient } from "postmark"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import { Sql } from "@waybill/store/postgres/Sql"
import { Effect } from "effect"
import * as DoorRequests from "../../../../apps/server/src/compat/doors/DoorRequests.ts"
import * as Emails from "../../../../apps/server/src/compat/postmark/Emails.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld } from "../../../support/world/HttpWorld.ts"
import { EMAIL } from "../postmarkCalls.ts"

const TOKEN = "POSTMARK_API_TEST"

layer(HttpWorld.layer({ minuteStands: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "Postmark's test token",
  (it) => {
    const setUp = Effect.map(HttpWorld, (world) => ({
      world,
      client: new ServerClient(TOKEN, { requestHost: `${new URL(world.url).host}/compat/postmark`, useHttps: false }),
      post: (path: string, options: Omit<Parameters<typeof world.request>[2], "headers">) =>
        world.request("POST", path, { ...options, headers: { "x-postmark-server-token": TOKEN } }),
    }))

    // threat: doors
    it.effect("has a message checked and accepted in Postmark's words, and stores nothing", function* () {
      const { client, post } = yield* setUp
      const sql = yield* Sql
      const count = Effect.map(sql<{ n: string }>`SELECT count(*) AS n FROM events`, ([row]) => row?.n)
      const before = yield* count
      const answer = yield* Effect.promise(() => client.sendEmail({ ...EMAIL, Cc: "bo@example.org" }))
      assert.deepInclude(answer, {
        ErrorCode: 0,
        Message: "Test job accepted",
        To: "ana@example.org",
        Cc: "bo@example.org",
      })
      assert.match(answer.MessageID, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u)
      assert.isBelow(Math.abs(Date.now() - Date.parse(answer.SubmittedAt)), 60_000)
      const results = yield* Effect.promise(() =>
        client.sendEmailBatch([EMAIL, { ...EMAIL, To: "nobody" }, { ...EMAIL, MessageStream: "other" }]),
      )
      assert.deepStrictEqual(
        results.map(({ ErrorCode, Message }) => [ErrorCode, Message.split(" ", 2).join(" ")]),
        [
          [0, "Test job"],
          [300, "Invalid 'To'"],
          [1235, "`MessageStream` must"],
        ],
      )
      for (const [change, field] of [
        [{ To: "ana@example.org, nobody" }, "To[1]"],
        [{ From: "nobody" }, "From"],
        [{ TextBody: undefined }, "TextBody"],
        [{ TemplateId: 7 }, "TemplateId"],
      ] as const) {
        const error = yield* Effect.promise(() =>
          client.sendEmail({ ...EMAIL, ...change } as Message).then(
            () => assert.fail(`not refused: ${field}`),
            (error: unknown) => error as Errors.PostmarkError,
          ),
        )
        assert.deepStrictEqual([error.statusCode, error.code], [422, 300], field)
        assert.include(error.message, `\`${field}\``)
      }
      assert.strictEqual((yield* post("/email", { body: EMAIL })).json.Message, "Test job accepted")
      assert.strictEqual(yield* count, before)
    })

    // threat: doors
    it.effect("opens nothing but sending, and takes small bodies only", function* () {
      const { post, world } = yield* setUp
      const headers = { "x-postmark-server-token": TOKEN }
      for (const path of ["/server", "/bounces", "/stats/outbound", "/messages/outbound"]) {
        const { json, status } = yield* world.request("GET", `/compat/postmark${path}`, { headers })
        assert.deepStrictEqual([status, json.ErrorCode], [401, 10], path)
      }
      const { status } = yield* post("/compat/postmark/message-streams/outbound/suppressions", { body: {} })
      assert.strictEqual(status, 401)
      assert.strictEqual((yield* post("/v1/email/send", { body: EMAIL })).status, 401)
      const messages = Array.from({ length: Emails.MAX_TRIAL_MESSAGES + 1 }, () => EMAIL)
      const many = yield* post("/compat/postmark/email/batch", { body: messages })
      assert.deepStrictEqual([many.status, many.json.ErrorCode], [422, 410])
      const large = { ...EMAIL, TextBody: "x".repeat(DoorRequests.MAX_TRIAL_BYTES) }
      assert.strictEqual((yield* post("/compat/postmark/email", { body: large })).status, 413)
    })

    // threat: doors
    it.effect("counts in the window of the address", function* () {
      const { post } = yield* setUp
      const statuses = new Set<number>()
      for (let nth = 0; nth <= RateLimit.ANONYMOUS_PER_MINUTE; nth++)
        statuses.add((yield* post("/compat/postmark/email", { body: EMAIL })).status)
      assert.deepStrictEqual([...statuses], [200, 429])
    })
  },
)
