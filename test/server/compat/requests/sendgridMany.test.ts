import * as Account from "@waybill/domain/account/Account"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Sql } from "@waybill/store/postgres/Sql"
import { Effect } from "effect"
import * as Substitutions from "../../../../apps/server/src/compat/sendgrid/Substitutions.ts"
import * as NewIds from "../../../../apps/server/src/process/NewIds.ts"
import { assert, describe, it, layer } from "../../../support/effectTest.ts"
import { processorMs } from "../../../support/processorMs.ts"
import { HttpWorld } from "../../../support/world/HttpWorld.ts"

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const sql = yield* Sql
  const account = yield* world.account()
  const { secret: key } = yield* world.key(account)
  yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
  const send = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    world.request("POST", "/compat/sendgrid/v3/mail/send", { key, body: { ...SHARED, ...body }, headers })
  const accepted = Effect.map(
    sql<{ readonly n: string }>`
      SELECT count(*) AS n FROM events WHERE account_id = ${account} AND type = 'EmailQueued'`,
    ([row]) => Number(row?.n),
  )
  return { accepted, account, key, send, sql, world }
})

const SHARED = {
  from: { email: "hi@acme.test" },
  subject: "Hello",
  content: [{ type: "text/plain", value: "Hello" }],
}
const people = (count: number, change: (nth: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, nth) => ({ to: [{ email: `r${nth}@example.org` }], ...change(nth) }))

const fieldOf = ({ json, status }: Effect.Success<ReturnType<HttpWorld["Service"]["request"]>>) => [
  status,
  json?.errors[0].field,
  json?.errors[0].message,
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })("many personalizations", (it) => {
  it.effect("are 1,000 emails at most, in one answer", function* () {
    const { accepted, send } = yield* setUp
    const custom_args = { campaign: "spring" }
    const answer = yield* send({ personalizations: people(1_000), custom_args })
    assert.strictEqual(answer.status, 202, answer.text)
    assert.match(answer.headers.get("x-message-id") ?? "", /^msg_/u)
    // A header with all ids would be longer than the headers that clients read.
    assert.isNull(answer.headers.get("x-message-ids"))
    assert.strictEqual(yield* accepted, 1_000)
    const [status, field] = fieldOf(yield* send({ personalizations: people(1_001) }))
    assert.deepStrictEqual([status, field], [400, "personalizations"])
    assert.strictEqual(yield* accepted, 1_000)
  })

  it.effect("are refused together before the first is accepted, whatever the last one is refused for", function* () {
    const { accepted, account, send } = yield* setUp
    const last = (change: object) => people(150, (nth) => (nth === 149 ? change : {}))
    assert.deepStrictEqual(
      fieldOf(yield* send({ personalizations: last({ to: [{ email: "nobody" }] }) })).slice(0, 2),
      [400, "personalizations.149.to.0.email"],
    )
    const foreign = fieldOf(yield* send({ personalizations: last({ from: { email: "hi@other.test" } }) }))
    assert.deepStrictEqual(foreign.slice(0, 2), [403, "personalizations.149.from.email"])
    assert.match(foreign[2], /^Message 149 of the batch: /u)
    const { commit } = yield* EventStore
    const limits = { ...Account.NONE_GRANTED, monthly_emails: 149 }
    const limited = Account.changeLimits(yield* NewIds.now, limits)
    yield* Effect.orDie(commit(Account, { account_id: account, stream_id: account }, limited))
    assert.strictEqual((yield* send({ personalizations: people(150) })).status, 429, "the volume of all batches")
    assert.strictEqual(yield* accepted, 0)
    assert.strictEqual((yield* send({ personalizations: people(149) })).status, 202)
    assert.strictEqual(yield* accepted, 149)
  })

  it.effect(
    "are completed by the same request after the database failed between two batches, and none twice",
    function* () {
      const { accepted, account, send, sql } = yield* setUp
      yield* sql`CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''stopped''; END'`
      const stop = (address: string) => sql`
      CREATE TRIGGER stop BEFORE INSERT ON events FOR EACH ROW
      WHEN (NEW.account_id = ${sql.literal(`'${account}'`)}
        AND strpos(coalesce(NEW.packed, NEW.data::text), ${sql.literal(`'${address}'`)}) > 0) EXECUTE FUNCTION stop()`
      const go = sql`DROP TRIGGER stop ON events`
      const personalizations = people(250)
      for (const headers of [{}, { "idempotency-key": "one" }]) {
        const before = yield* accepted
        yield* stop("r120@example.org")
        const failed = yield* send({ personalizations }, headers)
        assert.strictEqual(failed.status, 500, failed.text)
        assert.strictEqual(yield* accepted, before + 100)
        yield* go
        assert.strictEqual((yield* send({ personalizations }, headers)).status, 202)
        assert.strictEqual(yield* accepted, before + 250)
      }
      // Without a failure and without a key, the same request is another one.
      assert.strictEqual((yield* send({ personalizations })).status, 202)
      assert.strictEqual(yield* accepted, 750)
      assert.strictEqual((yield* send({ personalizations }, { "idempotency-key": "one" })).status, 202)
      assert.strictEqual(yield* accepted, 750)
    },
  )

  it.effect("are checked in sandbox mode, and nothing is accepted", function* () {
    const { accepted, key, send, world } = yield* setUp
    const mail_settings = { sandbox_mode: { enable: true } }
    for (const count of [1, 150]) {
      const answer = yield* send({ personalizations: people(count), mail_settings })
      assert.deepStrictEqual([answer.status, answer.text], [200, ""])
    }
    const foreign = yield* send({ personalizations: people(1), mail_settings, from: { email: "hi@other.test" } })
    assert.deepStrictEqual(fieldOf(foreign).slice(0, 2), [403, "from.email"])
    assert.deepStrictEqual(
      fieldOf(yield* send({ personalizations: [{ to: [{ email: "nobody" }] }], mail_settings })).slice(0, 2),
      [400, "personalizations.0.to.0.email"],
    )
    for (const enable of ["true", 1]) {
      const wrong = yield* send({ personalizations: people(1), mail_settings: { sandbox_mode: { enable } } })
      assert.strictEqual(wrong.status, 400)
    }
    assert.strictEqual(yield* accepted, 0)
    const { json } = yield* world.request("GET", "/v1/account", { key })
    assert.strictEqual(json.usage.emails, 0)
  })

  it.effect("have names replaced in subject, text, HTML and headers, each by its own values", function* () {
    const { key, send, world } = yield* setUp
    const answer = yield* send({
      subject: "Hello -name-",
      content: [
        { type: "text/plain", value: "-name-, -name-x -nam-$1" },
        { type: "text/html", value: "<b>-name-</b> -none-" },
      ],
      headers: { "X-Name": "-name-" },
      personalizations: people(2, (nth) => ({
        substitutions: [{ "-name-": "<i>Ana</i> $& -nam-", "-nam-": null, constructor: "x" }, { "-name-": 7 }][nth],
      })),
    })
    assert.strictEqual(answer.status, 202, answer.text)
    const ids = (answer.headers.get("x-message-ids") ?? "").split(",")
    const emails = yield* Effect.forEach(ids, (id) =>
      Effect.map(world.request("GET", `/v1/email/logs/${id}`, { key }), ({ json }) => [
        json.subject,
        json.content.text,
        json.content.html,
      ]),
    )
    assert.deepStrictEqual(emails, [
      [
        "Hello <i>Ana</i> $& -nam-",
        "<i>Ana</i> $& -nam-, <i>Ana</i> $& -nam-x $1",
        "<b><i>Ana</i> $& -nam-</b> -none-",
      ],
      ["Hello 7", "7, 7x -nam-$1", "<b>7</b> -none-"],
    ])
    const { json: events } = yield* world.request("GET", `/v1/email/logs/${ids[1]}/events`, { key })
    assert.deepStrictEqual(events.data[0].data.headers, { "X-Name": "7" })
    const broken = yield* send({
      subject: "-name-",
      personalizations: people(1, () => ({ substitutions: { "-name-": "a\r\nBcc: x@example.org" } })),
    })
    assert.deepStrictEqual(fieldOf(broken).slice(0, 2), [400, "subject"])
  })

  it.effect("have a meeting invitation as another form of the text", function* () {
    const { key, send, world } = yield* setUp
    const value = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nSUMMARY:-what-\r\nEND:VCALENDAR\r\n"
    const sendWith = (type: string) =>
      send({
        content: [...SHARED.content, { type, value }],
        attachments: [{ content: "aGk=", filename: "a.txt" }],
        personalizations: people(1, () => ({ substitutions: { "-what-": "Grüße" } })),
      })
    for (const [type, content_type] of [
      ["text/calendar", "text/calendar;charset=utf-8;method=REQUEST"],
      ["text/calendar; method=CANCEL", "text/calendar;method=CANCEL;charset=utf-8"],
    ] as const) {
      const answer = yield* sendWith(type)
      assert.strictEqual(answer.status, 202, answer.text)
      const path = `/v1/email/logs/${answer.headers.get("x-message-id")}`
      const { json } = yield* world.request("GET", `${path}/events`, { key })
      assert.deepStrictEqual(
        json.data[0].data.content.attachments.map((file: Readonly<Record<string, unknown>>) => [
          file["filename"],
          file["content_type"],
          file["alternative"],
          file["size_bytes"],
        ]),
        [
          ["a.txt", "text/plain", undefined, 2],
          ["invite.ics", content_type, true, Buffer.byteLength(value.replace("-what-", "Grüße"))],
        ],
      )
    }
    assert.deepStrictEqual(fieldOf(yield* sendWith("text/calendar; x=(")).slice(0, 2), [400, "content.1.type"])
  })

  it.effect("are refused quickly if replacing would take long or make much", function* () {
    const { accepted, send } = yield* setUp
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`-n${n}-`, "x"]))
    const text = (value: string) => [{ type: "text/plain", value }]
    for (const [body, status] of [
      [{ personalizations: people(1, () => ({ substitutions: names(101) })) }, 400],
      [
        {
          personalizations: people(2, (nth) => ({
            substitutions: {
              ...names(60),
              [`-m${nth}-`]: "",
              ...(nth === 0 ? {} : Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`-k${n}-`, ""]))),
            },
          })),
        },
        400,
      ],
      [{ personalizations: people(1, () => ({ substitutions: { ["x".repeat(101)]: "" } })) }, 400],
      [{ content: text("a".repeat(50_000)), personalizations: people(1, () => ({ substitutions: { a: "b" } })) }, 400],
      [
        {
          content: text("-n0-".repeat(9_000)),
          personalizations: people(100, () => ({ substitutions: { "-n0-": "x".repeat(10_000) } })),
        },
        413,
      ],
      [
        {
          content: text("-n0-".repeat(9_000)),
          personalizations: people(1, () => ({ substitutions: { "-n0-": "x".repeat(1_000_000) } })),
        },
        413,
      ],
      [
        {
          content: text("a".repeat(2_000_000)),
          personalizations: people(1, () => ({
            substitutions: Object.fromEntries(
              Array.from({ length: 100 }, (_, n) => [`${"a".repeat(97)}${n + 100}`.slice(0, 100), ""]),
            ),
          })),
        },
        400,
      ],
    ] as const) {
      const began = processorMs()
      assert.strictEqual((yield* send(body)).status, status, JSON.stringify(body).slice(0, 100))
      assert.isBelow(processorMs() - began, 15_000)
    }
    assert.strictEqual(yield* accepted, 0)
  })
})

describe("replacing names", () => {
  it("searches a text once for all, and takes the longest name", () => {
    const search = Substitutions.make([{ a: "1", ab: "2" }, { "a.c": "3" }, undefined], 1_000)
    assert(typeof search !== "string")
    assert.strictEqual(search.fill("ab a a.c abc", { a: "1", ab: "2" }), "2 1 a.c 2c")
    assert.strictEqual(search.fill("ab a a.c abc", { "a.c": "3" }), "ab a 3 abc")
    assert.strictEqual(search.fill("ab", undefined), "ab")
  })
})
