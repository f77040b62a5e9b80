import { vi } from "vitest"
import * as Mailboxes from "../../../../apps/server/src/compat/resend/emails/Mailboxes.ts"
import { assert, it } from "../../../support/effectTest.ts"
import { leastProcessorMs } from "../../../support/processorMs.ts"
import { handled, refusedFields, SENDS } from "./handled.ts"

/** Processor time of a thousand names. An expression that tries each comma of each takes seconds. */
const BOUND_MS = 60

const many = <A>(count: number, make: (nth: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, nth) => make(nth))
const pairs = (count: number) => Object.fromEntries(many(count, (nth) => [`X-${nth}`, "v"]))

/** Entries of a list that must not be looked at. */
const untouched = (count: number) =>
  new Proxy(
    many(count, () => ({})),
    {
      get: (list, name) => {
        if (typeof name === "string" && /^\d+$/u.test(name)) throw new Error(`entry ${name} was read`)
        return Reflect.get(list, name) as unknown
      },
    },
  )

// threat: doors
it.effect("a batch is counted before its entries are decoded", function* () {
  const batches = [
    { door: SENDS.resend.door, path: "/emails/batch", most: 100 },
    { door: SENDS.postmark.door, path: "/email/batch", most: 500 },
  ]
  for (const { door, path } of batches) {
    const { answer, calls } = yield* handled(door, path, untouched(40_000))
    assert.deepStrictEqual([answer, calls], [undefined, []] as unknown, path)
  }
  const { details } = yield* handled(
    SENDS.resend.door,
    "/emails/batch",
    many(101, () => SENDS.resend.message),
  )
  assert.deepStrictEqual(details, [{ path: "", message: "takes 1 to 100 messages; 101 were given" }])
})

it.effect("a list or an object with more entries than any message has is refused by its number", function* () {
  const person = { email: "b@x.test" }
  const to = [person]
  const rows = [
    ["resend", { to: many(1_001, () => "b@x.test") }, "to"],
    ["resend", { reply_to: many(51, () => "b@x.test") }, "reply_to"],
    ["resend", { headers: pairs(51) }, "headers"],
    ["resend", { tags: many(76, () => ({ name: "a", value: "b" })) }, "tags"],
    ["resend", { attachments: many(21, () => ({ filename: "a", content: "" })) }, "attachments"],
    ["postmark", { Headers: many(30_000, (nth) => ({ Name: `X-${nth}`, Value: "v" })) }, "Headers"],
    ["postmark", { Metadata: pairs(90_000) }, "Metadata"],
    ["postmark", { Attachments: many(21, () => ({ Name: "a", Content: "" })) }, "Attachments"],
    ["sendgrid", { custom_args: pairs(40_000), personalizations: many(100, () => ({ to })) }, "custom_args"],
    ["sendgrid", { categories: many(11, String) }, "categories"],
    ["sendgrid", { headers: pairs(51) }, "headers"],
    ["sendgrid", { personalizations: [{ to, headers: pairs(51) }] }, "personalizations[0].headers"],
    ["sendgrid", { personalizations: [{ to, custom_args: pairs(76) }] }, "personalizations[0].custom_args"],
    ["sendgrid", { personalizations: [{ to: many(1_001, () => person) }] }, "personalizations[0].to"],
    ["sendgrid", { personalizations: many(1_001, () => ({ to })) }, "personalizations"],
    ["sendgrid", { personalizations: many(100, () => ({ to, cc: many(100, () => 1) })) }, "personalizations"],
    ["sendgrid", { reply_to_list: many(51, () => person) }, "reply_to_list"],
    ["sendgrid", { attachments: many(21, () => ({ filename: "a", content: "" })) }, "attachments"],
    ["sendgrid", { content: many(3, () => ({ type: "text/plain", value: "x" })) }, "content"],
  ] as const
  for (const [service, change, field] of rows)
    assert.deepStrictEqual([...new Set(yield* refusedFields(service, change))], [field], `${service} ${field}`)
})

it.effect("the copies of what personalizations share fit in one body", function* () {
  const personalizations = many(100, () => ({ to: [{ email: "b@x.test" }] }))
  const shared = (chars: number) => ({ personalizations, content: [{ type: "text/plain", value: "é".repeat(chars) }] })
  assert.isUndefined(yield* refusedFields("sendgrid", shared(40_000)))
  assert.deepStrictEqual(yield* refusedFields("sendgrid", shared(60_000)), ["personalizations"])
})

it.effect("a list of addresses is read a fixed number of times, however many of them are wrong", function* () {
  const count = 60
  const list = many(count, () => "a".repeat(60)).join(",")
  const refusing = many(count, (nth) => ({ path: `cc[${nth}]`, message: "is not an address" }))
  const reading = vi.spyOn(String.prototype, "charCodeAt")
  const { door, message, path } = SENDS.postmark
  const { details } = yield* handled(door, path, { ...message, Cc: list }, { refusing })
  const reads = reading.mock.calls.length
  reading.mockRestore()
  for (const nth of [0, 1, count - 1])
    assert.match(
      details[nth]?.sentence ?? "",
      new RegExp(`^Invalid 'Cc' address: 'a{60}'\\. \`Cc\\[${nth}\\]\` is`, "u"),
    )
  assert.isAtMost(reads, 4 * list.length)
})

it.effect("a refusal lists at most 100 violations, and counts the others", function* () {
  const wrong = many(1_000, () => 1)
  const { resend, sendgrid } = SENDS
  const unknown = pairs(90_000)
  const rows = [
    [resend.door, resend.path, { ...resend.message, to: wrong }, /; and 980 more\./u],
    [resend.door, resend.path, unknown, /; and \d{5} more\./u],
    [resend.door, "/emails/batch", many(100, () => ({ ...resend.message, to: wrong })), /; and 99980 more\./u],
    [SENDS.postmark.door, "/email", unknown, /; and \d{5} more\./u],
    [sendgrid.door, sendgrid.path, unknown, /There are \d{5} more errors\./u],
    [
      sendgrid.door,
      sendgrid.path,
      { ...sendgrid.message, personalizations: many(100, () => ({ to: many(90, () => 1) })) },
      /There are 8900 more errors\./u,
    ],
  ] as const
  for (const [door, path, body, more] of rows) {
    const { details, failure } = yield* handled(door, path, body)
    const text = JSON.stringify(failure)
    assert.lengthOf(details, 100, text.slice(0, 300))
    assert.match(text, more, text.slice(-300))
    assert.isBelow(text.length, 40_000)
  }
})

// threat: doors
it("names without quotes are read in one pass, however long they are", () => {
  const message = (to: string) => ({ from: "a@acme.test", to: many(1_000, () => to), subject: "x" }) as never
  for (const to of [", ".repeat(490), `${", ".repeat(240)}<${"<".repeat(240)}`, ",".repeat(100_000)])
    assert.isBelow(
      leastProcessorMs(BOUND_MS, () => Mailboxes.quoted(message(to))),
      BOUND_MS,
      to.slice(0, 10),
    )
  assert.deepStrictEqual(Mailboxes.quoted(message(" Acme, Inc. <hi@acme.test> ")).to?.slice(0, 1), [
    '"Acme, Inc." <hi@acme.test>',
  ])
})
