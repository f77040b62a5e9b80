import { Effect } from "effect"
import { assert, it } from "../../../support/effectTest.ts"
import * as Uuids from "../../../../apps/server/src/requests/Uuids.ts"
import { handled, refusedFields, SENDS, type Service } from "./handled.ts"

const INHERITED = ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty", "prototype"]

/** An object with one own field, as JSON.parse makes it. */
const own = (name: string, value: unknown) =>
  JSON.parse(JSON.stringify({ x: value }).replace('"x"', JSON.stringify(name))) as object

const bodyOf = (service: Service, change: object) => {
  const { door, message, path } = SENDS[service]
  return handled(door, path, { ...message, ...change })
}

it.effect("a header or a pair that has the name of an inherited property is passed on like any other", function* () {
  for (const name of INHERITED) {
    const headers = [
      ["resend", { headers: own(name, "v") }],
      ["postmark", { Headers: [{ Name: name, Value: "v" }] }],
      ["sendgrid", { headers: own(name, "v") }],
      ["sendgrid", { personalizations: [{ to: [{ email: "b@x.test" }], headers: own(name, "v") }] }],
    ] as const
    for (const [service, change] of headers) {
      const { calls, details } = yield* bodyOf(service, change)
      const sent = JSON.stringify(calls[0]?.body)
      assert.include(sent ?? "", `"headers":{"${name}":"v"}`, `${service} ${JSON.stringify(details)}`)
    }
    const pairs = [
      ["resend", { tags: [{ name, value: "v" }] }],
      ["postmark", { Metadata: own(name, "v") }],
      ["sendgrid", { custom_args: own(name, "v") }],
    ] as const
    for (const [service, change] of pairs) {
      const { calls } = yield* bodyOf(service, change)
      assert.include(JSON.stringify(calls[0]?.body) ?? "", `"metadata":{"${name}":"v"}`, service)
    }
  }
})

it.effect("an unknown field that has the name of an inherited property is refused by its name", function* () {
  for (const service of ["resend", "postmark", "sendgrid"] as const)
    for (const name of INHERITED)
      assert.deepStrictEqual(yield* refusedFields(service, own(name, { enable: true })), [name], service)
  for (const name of INHERITED)
    assert.deepStrictEqual(yield* refusedFields("sendgrid", { mail_settings: own(name, { enable: true }) }), [
      `mail_settings.${name}`,
    ])
})

it.effect("a refusal of a field that has the name of an inherited property keeps its name", function* () {
  for (const name of INHERITED) {
    const refusing = [{ path: name, message: "is wrong" }]
    for (const service of ["resend", "postmark", "sendgrid"] as const)
      assert.deepStrictEqual(yield* refusedFields(service, {}, refusing), [name], service)
    assert.deepStrictEqual(yield* refusedFields("postmark", {}, [{ path: `attachments[0].${name}`, message: "" }]), [
      `Attachments[0].${name}`,
    ])
    const { details } = yield* handled(
      SENDS.resend.door,
      "/webhooks",
      { endpoint: "https://x.test", events: ["email.sent"] },
      { refusing },
    )
    assert.deepStrictEqual(
      details.map(({ path }) => path),
      [name],
    )
  }
})

it.effect("a parameter of a list in another form is refused", function* () {
  const rows = [
    ["resend", "/domains?limit=1e1", "limit"],
    ["resend", "/domains?limit=0x10", "limit"],
    ["resend", "/domains?limit=%205", "limit"],
    ["resend", "/domains?limit=-1", "limit"],
    ["resend", "/domains?limit=9007199254740993", "limit"],
    ["resend", "/domains?limit=1&limit=2", "limit"],
    ["resend", "/domains?__proto__=1", "__proto__"],
    ["postmark", "/bounces?count=1e1", "count"],
    ["postmark", "/bounces?offset=1.5", "offset"],
    ["postmark", "/bounces?count=1&count=500", "count"],
    ["postmark", "/bounces?type=constructor", "type"],
    ["postmark", "/bounces?fromdate=1", "fromdate"],
    ["postmark", "/bounces?fromdate=yesterday", "fromdate"],
    ["postmark", "/bounces?todate=2027-02-31", "todate"],
    ["postmark", "/bounces?todate=275761-01-01", "todate"],
    ["postmark", "/messages/outbound?status=constructor", "status"],
    ["postmark", "/messages/outbound?status=__proto__", "status"],
  ] as const
  for (const [service, path, field] of rows) {
    const { details } = yield* handled(SENDS[service].door, path, undefined, { method: "GET" })
    assert.deepStrictEqual(
      details.map((detail) => detail.path),
      [field],
      path,
    )
  }
})

it.effect("header fields that Waybill writes itself are dropped", function* () {
  const headers = {
    "Message-ID": "<a@b>",
    date: "today",
    "MIME-Version": "2.0",
    "Content-Transfer-Encoding": "8bit",
    "return-path": "<a@b>",
    "X-PM-KeepID": "true",
  }
  const list = Object.entries({ ...headers, "X-A": "1" }).map(([Name, Value]) => ({ Name, Value }))
  const rows = [
    ["resend", { headers: { ...headers, "X-A": "1" } }],
    ["postmark", { Headers: [...list, { Name: "Date", Value: "again" }] }],
    ["sendgrid", { headers: { ...headers, "X-A": "1" } }],
  ] as const
  for (const [service, change] of rows) {
    const { calls, details } = yield* bodyOf(service, change)
    const body = calls[0]?.body as { readonly headers?: unknown } | undefined
    assert.deepStrictEqual(body?.headers, { "X-A": "1" }, `${service} ${JSON.stringify(details)}`)
  }
})

it.effect("ids of ours are UUIDs in an answer, and what a customer wrote stays", () =>
  Effect.sync(() => {
    const id = "msg_01m8j21spyf06r7gyndhtdgh6c"
    const uuid = "01a22420-e6de-780d-83c3-d56c74d844cc"
    assert.deepStrictEqual(
      Uuids.spelled({ id, subject: id, data: [{ email_id: id }], tags: { id }, Metadata: { a_id: id } }),
      {
        id: uuid,
        subject: id,
        data: [{ email_id: uuid }],
        tags: { id },
        Metadata: { a_id: id },
      },
    )
  }),
)
