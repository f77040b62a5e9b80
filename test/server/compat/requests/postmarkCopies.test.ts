import { Effect } from "effect"
import { type Errors, type Message, Models, ServerClient } from "postmark"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"

const EMAIL = { From: "hi@acme.test", Subject: "x", TextBody: "x" }
const CC = { ...EMAIL, Cc: "Ana <ana@example.org>" }
const BCC = { ...EMAIL, To: "", Bcc: "ana@example.org, bo@example.org" }

layer(HttpWorld.layer({ tracks: true }), { excludeTestServices: true, timeout: "90 seconds" })(
  "a message for Postmark",
  (it) => {
    const setUp = Effect.gen(function* () {
      const { call, key, world } = yield* signUp({ domains: ["acme.test"] })
      const clientOf = (token: string) =>
        new ServerClient(token, { requestHost: `${new URL(world.url).host}/compat/postmark`, useHttps: false })
      const peopleOf = (id: string) =>
        Effect.map(call("GET", `/v1/email/logs/${id}`), ({ json }) => [json.to, json.cc, json.bcc])
      return { call, client: clientOf(key), clientOf, peopleOf }
    })

    it.effect("takes Cc or Bcc alone, as Postmark does, in each way to send", function* () {
      const { call, client, clientOf, peopleOf } = yield* setUp
      yield* call("POST", "/v1/templates", { alias: "note", name: "Note", subject: "x", text: "x" })
      yield* call("POST", "/v1/templates/note/publish", {})
      const { Subject: _, TextBody: __, ...unwritten } = BCC
      const templated = { ...unwritten, TemplateAlias: "note", TemplateModel: {} }
      const sent = yield* Effect.promise(async () => [
        await client.sendEmail(CC),
        ...(await client.sendEmailBatch([BCC])),
        await client.sendEmailWithTemplate(templated),
        ...(await client.sendEmailBatchWithTemplates([templated])),
      ])
      assert.deepStrictEqual(
        sent.map(({ ErrorCode }) => ErrorCode),
        [0, 0, 0, 0],
      )
      const hidden = [[], [], ["ana@example.org", "bo@example.org"]]
      assert.deepStrictEqual(yield* Effect.forEach(sent, ({ MessageID }) => peopleOf(MessageID)), [
        [[], ["Ana <ana@example.org>"], []],
        hidden,
        hidden,
        hidden,
      ])
      const trial = yield* Effect.promise(() => clientOf("POSTMARK_API_TEST").sendEmail(CC))
      assert.strictEqual(trial.Message, "Test job accepted")
    })

    it.effect("is refused without any recipient, and our own API needs one in `to`", function* () {
      const { call, client } = yield* setUp
      for (const nobody of [{}, { To: "" }, { To: " , ", Cc: ",", Bcc: null }]) {
        const error = yield* Effect.promise(() =>
          client.sendEmail({ ...EMAIL, ...nobody } as Message).then(
            () => assert.fail("not refused"),
            (error: unknown) => error as Errors.PostmarkError,
          ),
        )
        assert.deepStrictEqual(
          [error.statusCode, error.code, error.message],
          [422, 300, "`To` or `Cc` or `Bcc` is required."],
        )
      }
      const native = { from: "hi@acme.test", to: [], bcc: ["ana@example.org"], subject: "x", text: "x" }
      const { json, status } = yield* call("POST", "/v1/email/send", native)
      assert.deepStrictEqual(
        [status, json.error.details],
        [400, [{ path: "to", message: "takes 1 to 50 addresses; 0 were given" }]],
      )
    })

    it.effect("shows in lists and details what of it is tracked", function* () {
      const { client } = yield* setUp
      const { HtmlAndText, None } = Models.LinkTrackingOptions
      for (const [TrackOpens, TrackLinks, shown] of [
        [true, HtmlAndText, "HtmlOnly"],
        [false, None, "None"],
      ] as const) {
        const message = { ...CC, HtmlBody: "<p>x</p>", TrackOpens, TrackLinks }
        const { MessageID } = yield* Effect.promise(() => client.sendEmail(message))
        const { Messages } = yield* Effect.promise(() => client.getOutboundMessages({ count: 10 }))
        const details = yield* Effect.promise(() => client.getOutboundMessageDetails(MessageID))
        for (const found of [Messages.find((each) => each.MessageID === MessageID), details])
          assert.deepStrictEqual([found?.TrackOpens, found?.TrackLinks as string], [TrackOpens, shown])
      }
    })
  },
)
