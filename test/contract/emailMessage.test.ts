import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import { Sendable } from "@waybill/api/schemas/send/Sendable"
import * as Violations from "@waybill/api/errors/Violations"
import * as Id from "@waybill/domain/values/Id"
import * as Message from "@waybill/mail/compose/Message"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Exit, Option, Schema } from "effect"
import { assert, describe, test } from "vitest"
import { processorMs } from "../support/processorMs.ts"

const decode = Schema.decodeUnknownExit(EmailMessage, { errors: "all" })
const ID = Id.make("EmailId", 0, new Uint8Array(10))

/** The error that SMTP submission would return for a message that the API accepted. */
const refusal = (message: EmailMessage) =>
  Message.check({
    id: ID,
    createdAt: Timestamp.fromMillis(0),
    from: message.from,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    replyTo: message.reply_to,
    subject: message.subject,
    headers: message.headers ?? {},
    attachments: (message.attachments ?? []).map((file) => ({
      filename: file.filename,
      content: new Uint8Array(),
      ...(file.content_type === null ? {} : { contentType: file.content_type }),
      ...(file.content_id === null ? {} : { contentId: file.content_id }),
    })),
  })

/** Characters with a meaning in one of the two grammars, tried at every position. */
const CHARACTERS = [..."\u0000\t\n\r !\"#%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\u007f\u0080\u00a0ü\u2028💌", "\ud800"]
const TEXTS = [
  ...CHARACTERS,
  ...CHARACTERS.flatMap((each) => [`a${each}b`, `${each}a`, `a${each}`]),
  "",
  "x".repeat(76),
  "x".repeat(77),
  "x".repeat(900),
  "x".repeat(901),
  "é".repeat(450),
  "é".repeat(451),
  `${"x".repeat(800)} ${"y".repeat(800)}`,
  "=?UTF-8?Q?x?=",
  "text/plain; charset=utf-8",
  'text/plain;charset="a b"',
  "a/b; c",
  "content-type",
  "Content-Foo",
  "BCC",
  "Sender",
  "Reply-To",
  "<a@b>",
  "a@b",
  "cid",
]
const PLACES: ReadonlyArray<readonly [where: string, put: (text: string) => object]> = [
  ["subject", (text) => ({ subject: text })],
  ["from", (text) => ({ from: text })],
  ["a local part", (text) => ({ to: `${text}@example.org` })],
  ["a name", (text) => ({ to: `${text} <ana@example.org>` })],
  ["a quoted name", (text) => ({ reply_to: `"${text}" <ana@example.org>` })],
  ["a domain", (text) => ({ cc: `ana@${text}.org` })],
  ["a header's name", (text) => ({ headers: { [text]: "v" } })],
  ["a header's value", (text) => ({ headers: { "X-A": text } })],
  ["a second header's name", (text) => ({ headers: { sender: "v", [text]: "v" } })],
  ["a header's name beside `reply_to`", (text) => ({ reply_to: "bo@example.org", headers: { [text]: "v" } })],
  ["a file's name", (text) => ({ attachments: [{ filename: text, content: "" }] })],
  ["a file's type", (text) => ({ attachments: [{ filename: "a", content: "", content_type: text }] })],
  ["a file's content id", (text) => ({ attachments: [{ filename: "a", content: "", content_id: text }] })],
]

describe("accepted messages", () => {
  test("an accepted message can always be written as mail", () => {
    let taken = 0
    for (const [where, put] of PLACES)
      for (const text of TEXTS) {
        const decoded = decode({ from: "hi@acme.test", to: "ana@example.org", subject: "x", ...put(text) })
        if (Exit.isFailure(decoded)) continue
        taken++
        assert.isUndefined(refusal(decoded.value), `${where}: ${JSON.stringify(text)}`)
      }
    assert.isAbove(taken, 500)
  })

  test("a written message is parsed back unchanged", () => {
    const message = {
      from: "A <a@acme.test>",
      to: ["b@example.org"],
      subject: "x",
      cc: "c@example.org",
      scheduled_at: "2026-11-21T10:00:00+01:00",
    }
    const decoded = Schema.decodeUnknownSync(EmailMessage)(message)
    const again = Schema.decodeUnknownSync(EmailMessage)(Effect.runSync(Schema.encodeEffect(EmailMessage)(decoded)))
    assert.deepStrictEqual(again, decoded)
    assert.strictEqual(decoded.scheduled_at, "2026-11-21T09:00:00.000Z")
  })
})

const violations = (schema: Schema.Top, value: unknown) => {
  const exit = Schema.decodeUnknownExit(schema as Schema.Codec<unknown, unknown>, { errors: "all" })(value)
  if (Exit.isSuccess(exit)) return []
  const error = Option.getOrThrow(Exit.findErrorOption(exit))
  return Violations.fromIssue(error.issue).details.map(({ message, path }) => `${path} ${message}`.trim())
}

describe("violations", () => {
  const WORDS: ReadonlyArray<readonly [schema: Schema.Top, value: unknown, words: ReadonlyArray<string>]> = [
    [Schema.Struct({ a: Schema.String }), {}, ["a is required"]],
    [Schema.Struct({ a: Schema.String }), { a: 1 }, ["a must be a string"]],
    [Schema.Struct({ a: Schema.Boolean }), { a: 1 }, ["a must be true or false"]],
    [Schema.Struct({ a: Schema.Array(Schema.String) }), { a: "x" }, ["a must be an array"]],
    [
      Schema.Struct({ a: Schema.Array(Schema.String) }),
      { a: ["x", 1, null] },
      ["a[1] must be a string", "a[2] must be a string"],
    ],
    [Schema.Struct({ a: Schema.Struct({ b: Schema.String }) }), { a: { b: 1 } }, ["a.b must be a string"]],
    [Schema.Struct({ a: Schema.Literals(["x", "y", "z"]) }), { a: "w" }, ["a must be one of x, y or z"]],
    [Schema.Struct({ a: Schema.NullOr(Schema.String) }), { a: 1 }, ["a must be a string"]],
    [
      Schema.Struct({ a: Schema.Union([Schema.String, Schema.Array(Schema.String)]) }),
      { a: 1 },
      ["a must be a string or an array"],
    ],
    [
      Schema.Struct({ a: Schema.String, b: Schema.String, c: Schema.Boolean }),
      { b: 1, c: "x" },
      ["a is required", "b must be a string", "c must be true or false"],
    ],
    [Schema.String, 1, ["must be a string"]],
  ]
  for (const [schema, value, words] of WORDS)
    test(`violations of ${JSON.stringify(value)}: ${words.join("; ")}`, () =>
      assert.deepStrictEqual(violations(schema, value), words))

  for (const [character, octets] of [
    ["x", 1],
    ["ü", 2],
    ["€", 3],
    ["😀", 4],
  ] as const)
    test(`a run of ${character} in the value of a header has up to 900 octets`, () => {
      for (const before of ["", " ", "a b ", "\t"]) {
        const words = (length: number) => {
          const headers = { "X-A": before + character.repeat(length) }
          return violations(EmailMessage.fields.headers, headers)
        }
        const longest = 900 / octets
        assert.deepStrictEqual(words(longest), [])
        const refused = `has ${900 + octets} octets without a space; at most 900 are allowed`
        assert.deepStrictEqual(words(longest + 1), [`X-A ${refused}`])
      }
    })

  test("the problems of headers are described", () => {
    const words = violations(EmailMessage.fields.headers, {
      "X A": "v",
      "X\nA": "v",
      "X-\ud800": "v",
      "List-Id": "v",
      "LIST-ID": "v",
      "X-Twice": "v",
      "x-twice": "v",
      Subject: "v",
      "DKIM-X": "v",
      "X-Break": "a\rb",
      "X-Half": "\ud800",
    })
    assert.deepStrictEqual(words, [
      "X?A is not a header name: printable ASCII without spaces and colons",
      "X?A is a name that must not contain CR, LF or NUL",
      "X-? is a name that must not contain an unpaired surrogate",
      "LIST-ID is set twice",
      "Subject is set by the service and cannot be overridden",
      "DKIM-X is reserved for mail servers and cannot be set",
      "X-Break must not contain CR, LF or NUL",
      "X-Half must not contain an unpaired surrogate",
    ])
  })

  test("many spellings of a header take time in proportion to their number", () => {
    const spelled = (name: string, nth: number) =>
      [...name].map((char, place) => ((nth >> place) & 1 ? char.toUpperCase() : char)).join("")
    const check = Schema.decodeUnknownExit(EmailMessage.fields.headers)
    const fastest = (count: number) => {
      const names = ["list-unsubscribe-post", "list-unsubscribe"].flatMap((name) =>
        Array.from({ length: count }, (_, nth) => spelled(name, nth)),
      )
      const headers = Object.fromEntries(names.map((name) => [name, "x"]))
      const times = [1, 2, 3].map(() => {
        const began = processorMs()
        assert.isTrue(Exit.isFailure(check(headers)))
        return processorMs() - began
      })
      return Math.min(...times)
    }
    // Four times as many; sixteen times as long if each were compared with all before it.
    const ratios = [1, 2, 3].map(() => fastest(20_000) / fastest(5_000))
    assert.isBelow(Math.min(...ratios), 9)
  })

  test("violations are limited in number", () => {
    const many = Array.from({ length: 5_000 }, () => 1)
    assert.strictEqual(violations(Schema.Array(Schema.String), many).length, Violations.MAX_DETAILS)
  })

  test("violations never quote the request", () => {
    const secret = "wb_secret"
    const words = violations(EmailMessage, {
      from: secret,
      to: [secret],
      subject: { secret },
      tags: [secret.repeat(20)],
      scheduled_at: secret,
    })
    assert.isAbove(words.length, 3)
    assert.notInclude(words.join(), secret)
  })
})

describe("base64 of an attachment", () => {
  const contentOf = (content: string) => {
    const message = { from: "a@acme.test", to: "b@acme.test", subject: "x", attachments: [{ filename: "a", content }] }
    const decoded = decode(message)
    return Exit.isSuccess(decoded) ? decoded.value.attachments?.[0]?.content : undefined
  }
  const bytes = Buffer.from(Array.from({ length: 200 }, (_, nth) => nth))
  const text = bytes.toString("base64")
  const wrapped = (chars: number, end: string) => text.replaceAll(new RegExp(`.{${chars}}`, "gu"), (line) => line + end)

  for (const [what, content] of [
    ["in one line", text],
    ["wrapped at 76 characters with CRLF (RFC 2045)", wrapped(76, "\r\n")],
    ["wrapped at 64 characters with LF (PEM)", wrapped(64, "\n")],
    ["wrapped at 60 characters with a last line break (Ruby, MIME::Base64)", `${wrapped(60, "\n")}\n`],
  ] as const)
    test(`${what} is accepted`, () => assert.strictEqual(contentOf(content), text))

  for (const content of [
    "aGk",
    "aGk=\r",
    "aGkg\raGkg",
    "aGkg aGkg",
    "aGkg\taGkg",
    "aG k=",
    "aGk=aGk=",
    "a\\nGk=",
    "=",
    "aGk-",
    "\u2028",
  ])
    test(`${JSON.stringify(content)} is refused`, () => assert.isUndefined(contentOf(content)))

  for (const [content, fault] of [
    ["aGk", "padded with = to a multiple of 4 characters; it has 3"],
    ["aGk=\naG-_", 'character 4, not counting line breaks, is "="'],
    ["aGkg\naG-_", 'character 7, not counting line breaks, is "-"'],
  ] as const)
    test(`${JSON.stringify(content)}: the refusal says where`, () => {
      const attachments = [{ filename: "a", content }]
      const message = { from: "a@acme.test", to: "b@acme.test", subject: "x", attachments }
      assert.include(violations(EmailMessage, message).join(), fault)
    })
})

const MANY = Array.from({ length: 1_001 }, (_, nth) => [`v${nth}`, 1] as const)

describe("a body of a send, which is parsed once", () => {
  const decodeBody = Schema.decodeUnknownExit(Sendable)
  const mail = { from: "hi@acme.test", to: "ana@example.org", subject: "Hi" }

  for (const [what, more, isTaken] of [
    ["without more", {}, true],
    ["with a template", { template: { alias: "receipt", variables: { any: { name: 1 } } } }, true],
    ["with an unknown field", { subjet: "Hi" }, false],
    ["with an unknown field of its template", { template: { alias: "receipt", variable: {} } }, false],
    ["with too many variables", { template: { alias: "a", variables: Object.fromEntries(MANY) } }, false],
  ] as const)
    test(`${what} is ${isTaken ? "taken" : "refused"} when it is decoded`, () =>
      assert.strictEqual(Exit.isSuccess(decodeBody({ ...mail, ...more })), isTaken))
})
