import * as Email from "@waybill/domain/email/Email"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type * as Id from "@waybill/domain/values/Id"
import type * as Address from "@waybill/domain/values/Address"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Layer } from "effect"
import { Errors, type Message, Models, ServerClient } from "postmark"
import { test } from "vitest"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { hoursAfterMiddle, layerFromMiddle, MIDDLE } from "../../support/WallClock.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { EMAIL, postmarkCalls } from "./postmarkCalls.ts"

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const account = yield* world.account()
  const { secret } = yield* world.key(account)
  yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
  const clientOf = (token: string) =>
    new ServerClient(token, { requestHost: `${new URL(world.url).host}/compat/postmark`, useHttps: false })
  const logOf = (id: string) =>
    Effect.map(world.request("GET", `/v1/email/logs/${id}`, { key: secret }), ({ json }) => json)
  const mail = { from: "ana@example.org", to: "hi@acme.test", subject: "x", text: "x" }
  const receive = Effect.map(
    world.request("POST", "/v1/test/inbound", { key: secret, body: mail }),
    ({ json }) => json.id as string,
  )
  return { world, account, secret, client: clientOf(secret), clientOf, logOf, receive }
})

const refusal = <A>(call: () => Promise<A>) =>
  Effect.promise(() =>
    call().then(
      (answer) => assert.fail(`not refused: ${JSON.stringify(answer)}`),
      (error: unknown) => (error instanceof Errors.PostmarkError ? error : Promise.reject(error as Error)),
    ),
  )

/** Records that a recipient bounced, as the worker does. */
const bounce = Effect.fnUntraced(function* (account_id: Id.AccountId, id: string, address: string) {
  const { commit } = yield* EventStore
  const recipient = address as Address.Address
  const words = {
    ...DeliveryOutcome.NO_RESPONSE,
    code: 550,
    response: "no such user",
    category: "invalid_recipient",
    mx: "mx.example.org",
    attempt: 1,
  }
  const now = yield* NewIds.now
  const ref = { account_id, stream_id: (Uuid.idOf("EmailId", id) ?? id) as Id.EmailId }
  yield* Effect.orDie(commit(Email, ref, EmailReport.record(now, [{ _tag: "Bounced", recipient, words }])))
})

test("the package postmark has a row for each of its methods", () => {
  const methods = Object.getOwnPropertyNames(ServerClient.prototype).filter((name) => name !== "constructor")
  const named = new Set(postmarkCalls.map(({ call }) => call.split(" ", 1)[0]))
  assert.deepStrictEqual(
    methods.filter((name) => !named.has(name)),
    [],
  )
})

const World = HttpWorld.layer().pipe(Layer.provideMerge(layerFromMiddle))

layer(World, { excludeTestServices: true, timeout: "90 seconds" })("the package postmark", (it) => {
  it.effect("every call gives what its row says", function* () {
    const { account, client, receive } = yield* setUp
    const sent = yield* Effect.promise(() => client.sendEmail({ ...EMAIL, To: "gone@example.org" }))
    yield* bounce(account, sent.MessageID, "gone@example.org")
    const { Bounces } = yield* Effect.promise(() => client.getBounces())
    const received = yield* receive
    const known = { bounced: sent.MessageID, bounce: Bounces[0]?.ID ?? assert.fail("no bounce"), received }
    for (const { call, gives, run } of postmarkCalls) {
      const outcome = yield* Effect.promise(() =>
        run(client, known).then(
          () => "accepted",
          (error: Errors.PostmarkError) => `${error.statusCode}, ${error.code}: ${error.message}`,
        ),
      )
      assert.strictEqual(outcome, /^\d{3}, /u.test(gives) ? gives : "accepted", call)
    }
  })

  it.effect("sends a message with every field", function* () {
    const { client, logOf } = yield* setUp
    const answer = yield* Effect.promise(() =>
      client.sendEmail({
        ...EMAIL,
        To: '"Doe, Ana \\"A\\"" <ana@example.org>, bo@example.org,',
        Cc: "Cy <cy@example.org>",
        Bcc: "di@example.org",
        ReplyTo: "help@acme.test, more@acme.test",
        HtmlBody: '<p>Thank you! <img src="cid:logo"></p>',
        Tag: "receipt",
        Metadata: { order: "7041", url: "a:b" },
        Headers: [{ Name: "X-Order", Value: "7041" }],
        TrackOpens: false,
        TrackLinks: Models.LinkTrackingOptions.None,
        MessageStream: "outbound",
        Attachments: [{ Name: "logo.png", Content: "iVBORw==", ContentType: "image/png", ContentID: "cid:logo" }],
      }),
    )
    const { ErrorCode, Message, MessageID, SubmittedAt, To } = answer
    assert.deepStrictEqual([ErrorCode, Message], [0, "OK"])
    assert.include(To, "Doe, Ana")
    const log = yield* logOf(MessageID)
    assert.strictEqual(SubmittedAt, log.created_at)
    assert.deepStrictEqual(log.to, ['"Doe, Ana \\"A\\"" <ana@example.org>', "bo@example.org"])
    assert.deepStrictEqual([log.cc, log.bcc], [["Cy <cy@example.org>"], ["di@example.org"]])
    assert.deepStrictEqual(log.reply_to, ["help@acme.test", "more@acme.test"])
    assert.deepStrictEqual([log.tags, log.metadata], [["receipt"], { order: "7041", url: "a:b" }])
    assert.deepStrictEqual(log.tracking, { opens: false, clicks: false })
    assert.deepStrictEqual(log.content.attachments, [
      { filename: "logo.png", content_type: "image/png", content_id: "logo", size_bytes: 4 },
    ])
    const details = yield* Effect.promise(() => client.getOutboundMessageDetails(MessageID))
    assert.deepStrictEqual(details.To[0], { Email: "ana@example.org", Name: 'Doe, Ana "A"' })
    assert.deepStrictEqual([details.Tag, details.Metadata], ["receipt", { order: "7041", url: "a:b" }])
    assert.deepStrictEqual([details.Status, details.TextBody], ["Queued", "Thank you!"])
    assert.deepStrictEqual(details.Attachments as ReadonlyArray<unknown>, ["logo.png"])
  })

  it.effect("refuses under Postmark's numbers, and names the field in its spelling", function* () {
    const { client, clientOf, secret, world } = yield* setUp
    const refused = (change: Partial<Message> | Readonly<Record<string, unknown>>) =>
      Effect.map(
        refusal(() => client.sendEmail({ ...EMAIL, ...change } as Message)),
        ({ code, message, statusCode }) => [statusCode, code, /`([^`]+)`/u.exec(message)?.[1]],
      )
    const file = { Name: "a.txt", Content: "aGk=", ContentType: "text/plain", ContentID: null }
    const rows: ReadonlyArray<readonly [object, unknown]> = [
      [{ From: "nobody" }, [422, 300, "From"]],
      [{ To: "ana@example.org, nobody" }, [422, 300, "To[1]"]],
      [{ To: "nobody" }, [422, 300, "To"]],
      [{ To: undefined }, [422, 300, "To"]],
      [{ Subject: "a\r\nBcc: x@example.org" }, [422, 300, "Subject"]],
      [{ Headers: [{ Name: "DKIM-Signature", Value: "x" }] }, [422, 300, "Headers[0]"]],
      [
        {
          Headers: [
            { Name: "X-A", Value: "1" },
            { Name: "x-a", Value: "2" },
          ],
        },
        [422, 300, "Headers[1].Name"],
      ],
      [{ Metadata: { order: "7".repeat(501) } }, [422, 300, "Metadata.order"]],
      [{ Metadata: { ["o".repeat(65)]: "7" } }, [422, 300, `Metadata.${"o".repeat(64)}`]],
      [{ Tag: "x".repeat(501) }, [422, 300, "Tag"]],
      [{ TextBody: undefined, HtmlBody: "" }, [422, 300, "TextBody"]],
      [{ Attachments: [{ ...file, Content: "!" }] }, [422, 300, "Attachments[0].Content"]],
      [{ Attachments: [{ ...file, Disposition: "inline" }] }, [422, 300, "Attachments[0].ContentID"]],
      [{ TemplateId: 7 }, [422, 300, "TemplateId"]],
      [{ From: "x@other.test" }, [422, 400, "From"]],
    ]
    for (const [change, expected] of rows)
      assert.deepStrictEqual(yield* refused({ ...change }), expected, JSON.stringify(change))
    // Anymail reads the address from these words, and says that this recipient was refused.
    const wrong = { ...EMAIL, To: "ana@example.org, nobody" }
    const words = /^Invalid 'To' address: 'nobody'\. `To\[1\]` is not an address/u
    assert.match((yield* refusal(() => client.sendEmail(wrong))).message, words)
    const [inBatch] = yield* Effect.promise(() => client.sendEmailBatch([wrong]))
    assert.match(inBatch?.Message ?? "", words)
    const anonymous = yield* refusal(() => clientOf("2f8d").sendEmail(EMAIL))
    assert.instanceOf(anonymous, Errors.InvalidAPIKeyError)
    assert.strictEqual(anonymous.code, 10)
    assert.strictEqual(
      anonymous.message,
      "This is a key of Postmark. Waybill takes its own keys, which begin with wb_, in the header: X-Postmark-Server-Token: <key>.",
    )
    const keyless = yield* world.request("POST", "/compat/postmark/email", { body: EMAIL })
    assert.deepStrictEqual(
      [keyless.status, keyless.json],
      [401, { ErrorCode: 10, Message: "No API key was sent. Send one in the header: X-Postmark-Server-Token: <key>." }],
    )
    const reader = yield* world.key(yield* world.account(), { scopes: ["email:logs:read"] })
    assert.strictEqual((yield* refusal(() => clientOf(reader.secret).sendEmail(EMAIL))).code, 10)
    yield* world.request("POST", "/v1/suppressions", { key: secret, body: { email: "ana@example.org" } })
    const inactive = yield* refusal(() => client.sendEmail(EMAIL))
    assert.deepStrictEqual(
      inactive instanceof Errors.InactiveRecipientsError ? [inactive.code, inactive.recipients] : inactive,
      [406, ["ana@example.org"]],
    )
    const raw = yield* world.request("POST", "/compat/postmark/email", {
      raw: "{",
      headers: { "x-postmark-server-token": secret },
    })
    assert.deepStrictEqual([raw.status, raw.json.ErrorCode], [422, 402])
    const nothing = yield* refusal(() => client.getOutboundMessageDetails("x"))
    assert.deepStrictEqual([nothing.statusCode, nothing.code], [422, 701])
    // What is no email has no code of one, whose errors the package makes of another class.
    const few = yield* refusal(() => client.getBounces({ count: -1 }))
    assert.deepStrictEqual(
      [few instanceof Errors.InvalidEmailRequestError, few.statusCode, few.code],
      [false, 422, 408],
    )
    const layout = yield* refusal(() =>
      client.createTemplate({ Name: "x", TemplateType: Models.TemplateTypes.Layout, HtmlBody: "<p></p>" }),
    )
    assert.deepStrictEqual([layout.statusCode, layout.code], [422, 403])
    assert.include(layout.message, "The layout content placeholder must be present")
    yield* world.request("POST", "/v1/domains", { key: secret, body: { name: "real-domain.com" } })
    assert.deepStrictEqual((yield* refused({ From: "hi@real-domain.com" }))[1], 401)
  })

  it.effect("answers a batch with a result for each message", function* () {
    const { client } = yield* setUp
    const results = yield* Effect.promise(() =>
      client.sendEmailBatch([
        EMAIL,
        { ...EMAIL, From: "x@other.test" },
        { ...EMAIL, To: "nobody" },
        { ...EMAIL, MessageStream: "broadcast" },
        { ...EMAIL, To: "bo@example.org" },
      ]),
    )
    assert.deepStrictEqual(
      results.map(({ ErrorCode, To }) => [ErrorCode, To]),
      [
        [0, "ana@example.org"],
        [400, undefined],
        [300, undefined],
        [1235, undefined],
        [0, "bo@example.org"],
      ],
    )
    assert.match(results[2]?.Message ?? "", /^Invalid 'To' address: 'nobody'\. `To` is not an address/u)
    assert.notStrictEqual(results[0]?.MessageID, results[4]?.MessageID)
    const many = yield* refusal(() => client.sendEmailBatch(Array.from({ length: 501 }, () => EMAIL)))
    assert.deepStrictEqual([many.statusCode, many.code], [422, 410])
  })

  it.effect("keeps a tag that is too long for ours, and many pairs, and gives them back", function* () {
    const { client, logOf } = yield* setUp
    const Metadata = Object.fromEntries(Array.from({ length: 74 }, (_, nth) => [`name${nth}`, "v".repeat(500)]))
    const Tag = "t".repeat(65)
    const { MessageID } = yield* Effect.promise(() => client.sendEmail({ ...EMAIL, Tag, Metadata }))
    const details = yield* Effect.promise(() => client.getOutboundMessageDetails(MessageID))
    assert.deepStrictEqual([details.Tag, details.Metadata], [Tag, Metadata])
    assert.deepStrictEqual((yield* logOf(MessageID)).tags, [])
    const found = yield* Effect.promise(() =>
      client.getOutboundMessages({ tag: Tag, metadata_name73: "v".repeat(500) } as object),
    )
    assert.deepStrictEqual(
      found.Messages.map((each) => each.Metadata),
      [Metadata],
    )
  })

  it.effect("lists messages and bounces", function* () {
    const { account, client } = yield* setUp
    const ids: Array<string> = []
    for (const nth of [0, 1, 2]) {
      const message = { ...EMAIL, To: `r${nth}@example.org`, Tag: "t", Metadata: { nth: String(nth) } }
      ids.unshift((yield* Effect.promise(() => client.sendEmail(message))).MessageID)
    }
    yield* bounce(account, ids[0] ?? "", "r2@example.org")
    const list = (filter: object) => Effect.promise(() => client.getOutboundMessages(filter))
    const all = yield* list({ count: 2 })
    assert.deepStrictEqual(
      [all.Messages.map(({ MessageID }) => MessageID), Number(all.TotalCount)],
      [ids.slice(0, 2), 3],
    )
    const rest = yield* list({ count: 2, offset: 2 })
    assert.deepStrictEqual(
      [rest.Messages.map(({ MessageID }) => MessageID), Number(rest.TotalCount)],
      [ids.slice(2), 3],
    )
    for (const [filter, found] of [
      [{ recipient: "r1@example.org" }, 1],
      [{ tag: "t" }, 3],
      [{ metadata_nth: "2" }, 1],
      [{ status: "queued" }, 2],
      [{ status: "sent" }, 1],
      [{ fromDate: "2020-01-01", toDate: "2020-01-31" }, 0],
      [{ fromDate: MIDDLE.slice(0, 10), toDate: hoursAfterMiddle(1) }, 3],
    ] as const)
      assert.strictEqual((yield* list(filter)).Messages.length, found, JSON.stringify(filter))
    for (const filter of [{ recipient: "nobody" }, { fromDate: "soon" }, { count: 501 }, { offset: 999 }]) {
      const error = yield* refusal(() => client.getOutboundMessages(filter))
      assert.include(error.message, `\`${Object.keys(filter)[0]?.toLowerCase()}\``)
    }
    const { Bounces, TotalCount } = yield* Effect.promise(() => client.getBounces({ emailFilter: "R2@" }))
    const [one] = Bounces
    assert.deepStrictEqual(
      [TotalCount, one?.Type, one?.TypeCode, one?.Email, one?.MessageID, one?.Inactive],
      [1, "HardBounce", 1, "r2@example.org", ids[0], true],
    )
    assert.strictEqual(one?.Details, "550 no such user")
    assert.deepStrictEqual((yield* Effect.promise(() => client.getBounce(one?.ID ?? 0))).Email, "r2@example.org")
    assert.deepStrictEqual((yield* Effect.promise(() => client.getBounces({ tag: "other" }))).Bounces, [])
    const message = yield* Effect.promise(() => client.getOutboundMessageDetails(ids[0] ?? ""))
    const events = message.MessageEvents.map(({ Details, Recipient, Type }) => [Type, Recipient, Details])
    assert.deepStrictEqual(events, [["Bounced", "r2@example.org", { Summary: "550 no such user", BounceID: one?.ID }]])
    const missing = yield* refusal(() => client.getBounce(7))
    assert.deepStrictEqual([missing.statusCode, missing.code], [422, 407])
    const two = yield* Effect.promise(() => client.sendEmail({ ...EMAIL, To: "a@example.org, b@example.org" }))
    yield* bounce(account, two.MessageID, "b@example.org")
    const partial = yield* Effect.promise(() => client.getBounces({ messageID: two.MessageID }))
    assert.deepStrictEqual(
      partial.Bounces.map(({ Email, ID }) => [Email, Number.isSafeInteger(ID), ID % 128]),
      [["b@example.org", true, 1]],
    )
    const listed = yield* Effect.promise(() => client.getBounces())
    assert.include(
      listed.Bounces.map(({ Email }) => Email),
      "b@example.org",
    )
    const { client: stranger } = yield* setUp
    const foreign = yield* refusal(() => stranger.getBounce(one?.ID ?? 0))
    assert.deepStrictEqual([foreign.statusCode, foreign.code], [422, 407])
    assert.deepStrictEqual((yield* Effect.promise(() => stranger.getBounces())).Bounces, [])
    const unknown = yield* refusal(() => stranger.getOutboundMessageDetails(ids[0] ?? ""))
    assert.deepStrictEqual([unknown.statusCode, unknown.code], [422, 701])
  })

  it.effect("reads lists of several pages", function* () {
    const { client, secret, world } = yield* setUp
    const emails = Array.from({ length: 100 }, (_, nth) => ({
      from: "hi@acme.test",
      to: `r${nth}@example.org`,
      subject: "x",
    }))
    for (const _ of [1, 2]) yield* world.request("POST", "/v1/email/send/batch", { key: secret, body: { emails } })
    const { Messages, TotalCount } = yield* Effect.promise(() => client.getOutboundMessages({ count: 120, offset: 60 }))
    const all = yield* Effect.promise(() => client.getOutboundMessages({ count: 200 }))
    const idsOf = (messages: typeof Messages) => messages.map(({ MessageID }) => MessageID)
    assert.deepStrictEqual(idsOf(Messages), idsOf(all.Messages).slice(60, 180))
    assert.deepStrictEqual([Number(TotalCount), Number(all.TotalCount)], [200, 200])
    assert.strictEqual(new Set(idsOf(all.Messages)).size, 200)
    // The list goes on, so that the total is only known to be larger.
    const first = yield* Effect.promise(() => client.getOutboundMessages({ count: 10, offset: 5 }))
    assert.deepStrictEqual([idsOf(first.Messages), Number(first.TotalCount)], [idsOf(all.Messages).slice(5, 15), 16])
    yield* world.request("POST", "/v1/email/send/batch", { key: secret, body: { emails } })
    const far = yield* Effect.promise(() => client.getOutboundMessages({ count: 100, offset: 250 }))
    assert.deepStrictEqual([far.Messages.length, Number(far.TotalCount)], [50, 300])
  })

  it.effect("adds, lists and removes suppressions", function* () {
    const { client } = yield* setUp
    const of = (...addresses: ReadonlyArray<string>) => ({
      Suppressions: addresses.map((EmailAddress) => ({ EmailAddress })),
    })
    const added = yield* Effect.promise(() =>
      client.createSuppressions("outbound", of("a@example.org", "b@example.org", "a@example.org", "nobody")),
    )
    assert.deepStrictEqual(
      added.Suppressions.map(({ Status }) => Status),
      ["Suppressed", "Suppressed", "Suppressed", "Failed"],
    )
    const dumped = yield* Effect.promise(() => client.getSuppressions("outbound"))
    assert.deepStrictEqual(
      dumped.Suppressions.map(({ EmailAddress, Origin, SuppressionReason }) => [
        EmailAddress,
        SuppressionReason,
        Origin,
      ]),
      [
        ["b@example.org", "ManualSuppression", "Customer"],
        ["a@example.org", "ManualSuppression", "Customer"],
      ],
    )
    const one = yield* Effect.promise(() => client.getSuppressions("outbound", { emailAddress: "a@example.org" }))
    assert.strictEqual(one.Suppressions.length, 1)
    const none = yield* Effect.promise(() =>
      client.getSuppressions("outbound", { suppressionReason: Models.SuppressionReason.HardBounce }),
    )
    assert.deepStrictEqual(none.Suppressions, [])
    const removed = yield* Effect.promise(() =>
      client.deleteSuppressions("outbound", of("a@example.org", "unknown@example.org", "nobody")),
    )
    assert.deepStrictEqual(
      removed.Suppressions.map(({ Status }) => Status),
      ["Deleted", "Deleted", "Failed"],
    )
    const left = yield* Effect.promise(() => client.getSuppressions("outbound"))
    assert.deepStrictEqual(
      left.Suppressions.map(({ EmailAddress }) => EmailAddress),
      ["b@example.org"],
    )
    const empty = yield* refusal(() => client.createSuppressions("outbound", of()))
    assert.include(empty.message, "`Suppressions`")
  })
})
