import * as Email from "@waybill/domain/email/Email"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as Uuid from "@waybill/domain/values/Uuid"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Follower from "@waybill/store/feed/Follower"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { Effect, Layer } from "effect"
import { Models, ServerClient } from "postmark"
import * as NewIds from "../../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { layerFromMiddle, MIDDLE } from "../../../support/WallClock.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"
import { EMAIL } from "../postmarkCalls.ts"

const World = HttpWorld.layer().pipe(Layer.provideMerge(layerFromMiddle))

layer(World, { excludeTestServices: true, timeout: "90 seconds" })("numbers of Postmark", (it) => {
  const setUp = Effect.gen(function* () {
    const { account, call, key, world } = yield* signUp({ domains: ["acme.test"] })
    const { commit } = yield* EventStore
    const client = new ServerClient(key, {
      requestHost: `${new URL(world.url).host}/compat/postmark`,
      useHttps: false,
    })
    const record = Effect.fnUntraced(function* (
      id: string,
      decide: (now: Effect.Success<typeof NewIds.now>) => ReturnType<typeof EmailReport.recordOpened>,
    ) {
      const stream_id = (Uuid.idOf("EmailId", id) ?? id) as Id.EmailId
      yield* Effect.orDie(commit(Email, { account_id: account, stream_id }, decide(yield* NewIds.now)))
    })
    const bounced = (id: string, address: string, category: "invalid_recipient" | "mailbox_full" | "policy") =>
      record(id, (now) =>
        EmailReport.record(now, [
          {
            _tag: "Bounced",
            recipient: address as Address.Address,
            words: {
              ...DeliveryOutcome.NO_RESPONSE,
              code: 550,
              response: "no",
              category,
              mx: "mx.example.org",
              attempt: 1,
            },
          },
        ]),
      )
    const send = (change: object = {}) =>
      Effect.map(
        Effect.promise(() => client.sendEmail({ ...EMAIL, ...change })),
        ({ MessageID }) => MessageID,
      )
    return { call, client, key, record, bounced, send }
  })
  const counted = Effect.gen(function* () {
    while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
  })
  const VISITOR = { user_agent: "Mail/1.0", ip: "192.0.2.7" }
  const DAY = MIDDLE.slice(0, 10)

  it.effect("counts what was sent, bounced, opened and clicked, by day and by tag", function* () {
    const { bounced, client, record, send } = yield* setUp
    const first = yield* send({ To: "a@example.org, b@example.org", Tag: "receipt" })
    yield* bounced(first, "b@example.org", "invalid_recipient")
    const second = yield* send({ To: "c@example.org" })
    yield* bounced(second, "c@example.org", "mailbox_full")
    const third = yield* send()
    for (const _ of [1, 2]) yield* record(third, (now) => EmailReport.recordOpened(now, VISITOR))
    yield* record(third, (now) => EmailReport.recordClicked(now, "https://acme.test/a", VISITOR))
    yield* counted
    const all = yield* Effect.promise(() => client.getOutboundOverview())
    assert.deepStrictEqual({ ...all } as unknown, {
      Sent: 4,
      Bounced: 2,
      BounceRate: 50,
      SpamComplaints: 0,
      SpamComplaintsRate: 0,
      Opens: 2,
      TotalClicks: 1,
      WithClientRecorded: 0,
      WithPlatformRecorded: 0,
      WithReadTimeRecorded: 0,
    })
    const tagged = yield* Effect.promise(() => client.getOutboundOverview({ tag: "receipt", fromDate: DAY }))
    assert.deepStrictEqual([tagged.Sent, tagged.Bounced, tagged.Opens], [2, 1, 0])
    const old = { fromDate: "2020-01-01", toDate: "2020-01-31" }
    assert.strictEqual((yield* Effect.promise(() => client.getOutboundOverview(old))).Sent, 0)
    const today = { fromDate: DAY, toDate: DAY }
    for (const [call, counts] of [
      [() => client.getSentCounts(today), { Sent: 4 }],
      [() => client.getSpamComplaintsCounts(today), { SpamComplaint: 0 }],
      [() => client.getEmailOpenCounts(today), { Opens: 2 }],
      [() => client.getEmailOpenPlatformUsage(today), { Unknown: 2 }],
      [() => client.getClickCounts(today), { Clicks: 1 }],
      [() => client.getClickPlatformUsage(today), { Unknown: 1 }],
      [() => client.getClickLocation(today), { HTML: 1, Text: 0 }],
      [() => client.getBounceCounts(today), { HardBounce: 1, SoftBounce: 1 }],
    ] as const) {
      const { Days, ...sums } = yield* Effect.promise<Record<string, unknown>>(call as () => Promise<never>)
      const isEmpty = Object.values(counts).every((count) => count === 0)
      assert.deepStrictEqual([Days, sums], [isEmpty ? [] : [{ Date: DAY, ...counts }], counts])
    }
    const error = yield* Effect.promise(() =>
      client.getOutboundOverview({ messageStream: "broadcast" }).catch((reason: { code: number }) => reason.code),
    )
    assert.strictEqual(error, 1226)
    const range = yield* Effect.promise(() =>
      client.getSentCounts({ fromDate: "2020-01-01" }).catch((reason: Error) => reason.message),
    )
    assert.include(range, "`fromdate`")
  })

  it.effect("counts bounces by kind, and lists their tags", function* () {
    const { bounced, call, client, key, send } = yield* setUp
    yield* bounced(yield* send({ Tag: "receipt" }), "ana@example.org", "invalid_recipient")
    yield* bounced(yield* send({ To: "b@example.org", Tag: "alert" }), "b@example.org", "policy")
    yield* bounced(yield* send({ To: "c@example.org" }), "c@example.org", "policy")
    assert.deepStrictEqual((yield* Effect.promise(() => client.getDeliveryStatistics())) as unknown, {
      InactiveMails: 1,
      Bounces: [
        { Name: "All", Count: 3 },
        { Type: "Blocked", Name: "ISP block", Count: 2 },
        { Type: "HardBounce", Name: "Hard bounce", Count: 1 },
      ],
    })
    const { json } = yield* call("GET", "/bounces/tags", undefined, { "x-postmark-server-token": key })
    assert.deepStrictEqual(json, ["alert", "receipt"])
    const tags = yield* Effect.promise(() => client.getBounces())
    assert.strictEqual(tags.Bounces.length, 3)
    for (const [type, count] of [
      [Models.BounceType.HardBounce, 1],
      [Models.BounceType.Transient, 0],
    ] as const)
      assert.lengthOf((yield* Effect.promise(() => client.getBounces({ type }))).Bounces, count, type)
    const { Messages } = yield* Effect.promise(() => client.getOutboundMessages())
    assert.deepStrictEqual([...new Set(Messages.map(({ Sandboxed }) => Sandboxed))], [false])
    const dump = yield* Effect.promise(() => client.getBounceDump(tags.Bounces[0]?.ID ?? 0))
    assert.deepStrictEqual(dump, { Body: "" })
  })

  it.effect("lists opens and clicks, of all messages and of one", function* () {
    const { client, record, send } = yield* setUp
    const first = yield* send({ Tag: "receipt" })
    const second = yield* send({ To: "bo@example.org" })
    for (const agent of ["A", "B"])
      yield* record(first, (now) => EmailReport.recordOpened(now, { user_agent: agent, ip: null }))
    yield* record(second, (now) => EmailReport.recordOpened(now, VISITOR))
    yield* record(second, (now) => EmailReport.recordClicked(now, "https://acme.test/a", VISITOR))
    const { Opens, TotalCount } = yield* Effect.promise(() => client.getMessageOpens())
    assert.deepStrictEqual(
      [TotalCount, Opens.map(({ MessageID, Recipient, UserAgent }) => [MessageID, Recipient, UserAgent])],
      [
        3,
        [
          [second, "bo@example.org", "Mail/1.0"],
          [first, "ana@example.org", "B"],
          [first, "ana@example.org", "A"],
        ],
      ],
    )
    assert.deepInclude(Opens[1], { RecordType: "Open", Tag: "receipt", Platform: "Unknown", ReadSeconds: 0 })
    assert.deepStrictEqual(Opens[0]?.Geo, { IP: "192.0.2.7" })
    const rest = yield* Effect.promise(() => client.getMessageOpens({ count: 1, offset: 2 }))
    assert.deepStrictEqual(
      rest.Opens.map(({ UserAgent }) => UserAgent),
      ["A"],
    )
    const ofTag = yield* Effect.promise(() => client.getMessageOpens({ tag: "receipt", recipient: "ana@example.org" }))
    assert.strictEqual(ofTag.Opens.length, 2)
    const one = yield* Effect.promise(() => client.getMessageOpensForSingleMessage(first, { count: 1, offset: 1 }))
    assert.deepStrictEqual([one.TotalCount, one.Opens[0]?.UserAgent], [2, "A"])
    const { Clicks } = yield* Effect.promise(() => client.getMessageClicks())
    assert.deepStrictEqual(
      Clicks.map(({ ClickLocation, MessageID, OriginalLink }) => [MessageID, OriginalLink, ClickLocation]),
      [[second, "https://acme.test/a", "HTML"]],
    )
    const none = yield* Effect.promise(() => client.getMessageClicksForSingleMessage(first))
    assert.deepStrictEqual([none.TotalCount, none.Clicks], [0, []])
    for (const refusedBy of [{ count: 101 }, { client_name: "Chrome" }]) {
      const message = yield* Effect.promise(() =>
        client.getMessageOpens(refusedBy).then(
          () => "",
          (error: Error) => error.message,
        ),
      )
      assert.include(message, `\`${Object.keys(refusedBy)[0]}\``)
    }
    const { client: stranger } = yield* setUp
    assert.deepStrictEqual((yield* Effect.promise(() => stranger.getMessageOpens())).Opens, [])
    const foreign = yield* Effect.promise(() =>
      stranger.getMessageOpensForSingleMessage(first).catch((error: { code: number }) => error.code),
    )
    assert.strictEqual(foreign, 701)
  })
})
