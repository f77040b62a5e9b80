import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { EMAIL, HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"

const later = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString()

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("emails", (it) => {
  const setUp = signUp({ domains: ["acme.test"] })

  it.effect("can be canceled once while queued", function* () {
    const { call, log, send } = yield* setUp
    const id = yield* send({ scheduled_at: later(1) })
    const canceled = yield* call("POST", `/v1/email/${id}/cancel`)
    assert.strictEqual(canceled.status, 200)
    const { content, copies, forward_of, reply_tracking, resend_of, ...record } = yield* log(id)
    assert.deepStrictEqual([copies, forward_of, reply_tracking, resend_of], [[], null, null, null])
    assert.deepStrictEqual([content.text, record.tracking], ["Hi", { opens: false, clicks: false }])
    assert.deepStrictEqual(canceled.json, record)
    assert.deepStrictEqual([record.status, record.version], ["canceled", 2])
    assert.deepStrictEqual(reasonOf(yield* call("POST", `/v1/email/${id}/cancel`)), [422, "not_cancelable"])
  })

  it.effect("can be rescheduled while queued, within the allowed range", function* () {
    const { call, send } = yield* setUp
    const id = yield* send({ scheduled_at: later(1) })
    const patch = (body: unknown) => call("PATCH", `/v1/email/${id}`, body)
    const wish = later(5).replace("Z", "+02:00")
    const moved = yield* patch({ scheduled_at: wish })
    assert.strictEqual(moved.status, 200)
    assert.closeTo(Date.parse(moved.json.scheduled_at), Date.now() + 3 * 3_600_000, 60_000)
    assert.strictEqual(moved.json.version, 2)
    assert.deepStrictEqual((yield* patch({ scheduled_at: wish })).json, moved.json)
    assert.strictEqual((yield* patch({ scheduled_at: later(2) })).json.version, 3)
    assert.strictEqual((yield* patch({ scheduled_at: later(31 * 24) })).json.error.reason, "scheduled_at_out_of_range")
    assert.strictEqual((yield* patch({})).status, 400)
    assert.strictEqual((yield* patch({ scheduled_at: "tomorrow" })).status, 400)
    yield* call("POST", `/v1/email/${id}/cancel`)
    assert.strictEqual((yield* patch({ scheduled_at: later(2) })).json.error.reason, "not_cancelable")
  })

  it.effect("cannot be changed while a worker holds their lease, even if it died", function* () {
    const { call, send, world } = yield* setUp
    const id = yield* send()
    const reschedule = call("PATCH", `/v1/email/${id}`, { scheduled_at: later(1) })
    const reasons = Effect.map(Effect.all([call("POST", `/v1/email/${id}/cancel`), reschedule]), (answers) =>
      answers.map(({ json }) => json.error.reason as string),
    )
    // A lease of a dead worker, which no client can cause.
    for (const lease of ["1 minute", "-1 day"]) {
      yield* world.sql`UPDATE outbox SET lease_token = 'x', lease_owner = 'x', lease_until = now() + ${lease}::interval
          WHERE id = ${id}`
      assert.deepStrictEqual(yield* reasons, ["not_cancelable", "not_cancelable"], lease)
    }
    yield* world.sql`UPDATE outbox SET lease_token = NULL, lease_owner = NULL, lease_until = NULL WHERE id = ${id}`
    assert.strictEqual((yield* reschedule).status, 200)
    assert.strictEqual((yield* call("POST", `/v1/email/${id}/cancel`)).status, 200)
  })

  it.effect("are resent as a copy with the same content", function* () {
    const { call, log, send } = yield* setUp
    const attachments = [{ filename: "a.txt", content: "aGk=", content_type: null, content_id: null }]
    const id = yield* send({ to: ["ana@example.org", "bo@example.org"], tags: ["x"], attachments })
    // While delivery is in progress, a copy would reach everybody twice.
    const early = yield* call("POST", `/v1/email/${id}/resend`)
    assert.deepStrictEqual(reasonOf(early), [422, "nothing_to_resend"])
    assert.include(early.json.error.message, "it is still being sent to its recipients")
    assert.strictEqual((yield* call("POST", `/v1/email/${id}/cancel`)).status, 200)
    const again = yield* call("POST", `/v1/email/${id}/resend`)
    assert.strictEqual(again.status, 200)
    assert.deepStrictEqual(Object.keys(again.json), ["id", "status", "created_at"])
    assert.notStrictEqual(again.json.id, id)
    const [first, copy] = [yield* log(id), yield* log(again.json.id)]
    assert.deepStrictEqual([first.copies, first.resend_of], [[again.json.id], null])
    assert.deepStrictEqual([copy.copies, copy.resend_of], [[], id])
    const events = (yield* call("GET", `/v1/email/logs/${id}/events`)).json.data
    assert.deepInclude(events.at(-1), { type: "email.resent", data: { copy_id: again.json.id } })
    for (const field of ["from", "to", "subject", "tags", "content", "size_bytes"])
      assert.deepStrictEqual(copy[field], first[field], field)
    assert.deepStrictEqual(copy.content.attachments, [
      { filename: "a.txt", content_type: "text/plain", content_id: null, size_bytes: 2 },
    ])
  })

  it.effect("cannot be resent after their content was removed", function* () {
    const { account, call, keyWith, log, send, world } = yield* setUp
    const id = yield* send()
    // As its daily removal does after the retention.
    yield* world.sql`DELETE FROM content WHERE account_id = ${account}`
    assert.strictEqual((yield* call("POST", `/v1/email/${id}/resend`)).json.error.reason, "content_expired")
    assert.isNull((yield* log(id)).content)
    // A missing scope is reported before anything else.
    const secret = yield* keyWith({ domain: "other.test" })
    const refused = yield* world.request("POST", `/v1/email/${id}/resend`, { key: secret })
    assert.deepStrictEqual(reasonOf(refused), [403, "domain_not_allowed"])
  })

  it.effect("in a strict batch are accepted all or none, with the index of the refused one", function* () {
    const { call } = yield* setUp
    const batch = (emails: ReadonlyArray<unknown>, mode?: string) =>
      call("POST", "/v1/email/send/batch", { emails, mode })
    const good = yield* batch([EMAIL, { ...EMAIL, subject: "Two" }])
    assert.strictEqual(good.status, 200)
    assert.deepStrictEqual(
      good.json.data.map((each: { index: number; status: string }) => [each.index, each.status]),
      [
        [0, "queued"],
        [1, "queued"],
      ],
    )
    const malformed = yield* batch([EMAIL, { ...EMAIL, to: "x", subject: 1 }])
    assert.strictEqual(malformed.status, 400)
    assert.deepStrictEqual(
      malformed.json.error.details.map(({ path }: { path: string }) => path),
      ["emails[1].to", "emails[1].subject"],
    )
    const refused = yield* batch([EMAIL, { ...EMAIL, from: "hi@other.test" }])
    assert.deepStrictEqual(reasonOf(refused), [422, "domain_not_verified"])
    assert.strictEqual(refused.json.error.details[0].path, "emails[1].from")
    const { json } = yield* call("GET", "/v1/email/logs")
    assert.strictEqual(json.data.length, 2)
  })

  it.effect("in a permissive batch are accepted one by one", function* () {
    const { call } = yield* setUp
    const emails = [EMAIL, { to: "x" }, { ...EMAIL, from: "hi@other.test" }, 7, EMAIL]
    const { headers, json, status } = yield* call("POST", "/v1/email/send/batch", { emails, mode: "permissive" })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(
      json.data.map(
        (each: { status: string | null; error: { code: string; reason: string; request_id: string } | null }) => [
          each.status,
          each.error?.code,
          each.error?.reason,
        ],
      ),
      [
        ["queued", undefined, undefined],
        [null, "invalid_request", "validation_failed"],
        [null, "unprocessable", "domain_not_verified"],
        [null, "invalid_request", "validation_failed"],
        ["queued", undefined, undefined],
      ],
    )
    assert.strictEqual(json.data[1].error.request_id, headers.get("x-request-id"))
    assert.strictEqual(headers.get("x-ratelimit-remaining"), "999")
  })

  it.effect("are accepted in batches of 1 to 100", function* () {
    const { call } = yield* setUp
    const batch = (count: number) =>
      call("POST", "/v1/email/send/batch", { emails: Array.from({ length: count }, () => EMAIL) })
    assert.strictEqual((yield* batch(0)).status, 400)
    assert.strictEqual((yield* batch(100)).status, 200)
    const over = yield* batch(101)
    assert.deepStrictEqual(over.json.error.details, [
      { path: "emails", message: "takes 1 to 100 messages; 101 were given" },
    ])
    assert.strictEqual((yield* call("POST", "/v1/email/send/batch", { emails: [EMAIL], mode: "sloppy" })).status, 400)
    assert.strictEqual((yield* call("POST", "/v1/email/send/batch", {})).status, 400)
  })
})
