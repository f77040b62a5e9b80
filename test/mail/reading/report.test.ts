import * as MimeTree from "@waybill/mail/mime/MimeTree"
import * as Report from "@waybill/mail/reading/Report"
import * as ReportComplaint from "@waybill/mail/report/ReportComplaint"
import * as ReportFact from "@waybill/mail/report/ReportFact"
import { readFeedback } from "@waybill/mail/report/readFeedback"
import * as ReportLegacy from "@waybill/mail/report/ReportLegacy"
import { Effect, Result, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"

const fixtures = new URL("../../fixtures/reports/", import.meta.url)
const file = (name: string) => readFileSync(new URL(name, fixtures))

const Answer = Schema.Union([
  Schema.Struct({ refused: Schema.String }),
  Schema.Array(Schema.Record(Schema.String, Schema.String)),
])
const answers = Schema.decodeSync(Schema.fromJsonString(Schema.Record(Schema.String, Answer)))(
  file("answers.json").toString(),
)

/** A fact in the form of the fixtures: without undefined fields, and with class and effect of the verdict only. */
const written = ({ verdict, ...fact }: ReportFact.ReportFact): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(fact).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  ...(verdict === undefined ? {} : { class: verdict.class, suppress: verdict.suppress }),
})

const parse = (bytes: Uint8Array) =>
  Effect.catchTags(Report.parse(bytes, "acme"), { Busy: Effect.die, Unread: Effect.die })

const answer = (bytes: Uint8Array) =>
  Effect.map(Effect.result(parse(bytes)), (result) =>
    Result.isFailure(result) ? { refused: result.failure.reason } : result.success.map(written),
  )

describe("a report", () => {
  for (const [name, expected] of Object.entries(answers)) {
    it.effect(
      `${name} says ${Array.isArray(expected) ? expected.map((fact) => fact["kind"]).join(", ") : "nothing"}`,
      function* () {
        assert.deepStrictEqual(yield* answer(file(`${name}.eml`)), expected)
      },
    )
  }

  it.effect("whose action is a name that every object has says nothing about a recipient", function* () {
    for (const action of ["constructor", "valueOf", "__proto__"]) {
      const lines = [
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
        "MIME-Version: 1.0",
        "",
        "--b",
        "Content-Type: message/delivery-status",
        "",
        "Reporting-MTA: dns; mx.x.test",
        "",
        "Final-Recipient: rfc822; ana@x.test",
        `Action: ${action}`,
        "Status: 5.1.1",
        "",
        "--b--",
        "",
      ]
      const read = yield* answer(Buffer.from(lines.join("\r\n")))
      assert.isFalse(Array.isArray(read) && read.length > 0, action)
    }
  })

  it("of Yahoo's complaint feedback loop without ARF is read at an address for feedback, with a redacted recipient", async () => {
    const feedback = await readFeedback(file("yahoo-cfl.eml"))
    if (typeof feedback === "string") return assert.fail(feedback)
    const { facts, isLoop, returnPath, token } = feedback
    assert.deepStrictEqual(facts.map(written), [
      { kind: "complaint", action: "abuse", originalMessageId: "msg_01m7ysmwp0e41861050r3gg28a@acme.test" },
    ])
    assert.deepStrictEqual(
      [returnPath, token, isLoop],
      [
        "b-01m7ysmwp0e41861050r3gg28a00-cyxr4dxbr0xq7yes@bounce.acme.test",
        "01m7ysmwp0e41861050r3gg28a-cyxr4dxbr0xq7yes",
        // Whoever forwards a mail writes the same, so only the address says that it is a complaint.
        false,
      ],
    )
    return undefined
  })

  it("has an expected result for each file", () => {
    assert.deepStrictEqual(
      readdirSync(fixtures)
        .filter((name) => name.endsWith(".eml"))
        .sort(),
      Object.keys(answers)
        .map((name) => `${name}.eml`)
        .sort(),
    )
  })

  it.effect("has the same facts with bare LF", function* () {
    for (const [name, expected] of Object.entries(answers)) {
      assert.deepStrictEqual(
        yield* answer(Buffer.from(file(`${name}.eml`).toString("latin1").replaceAll("\r\n", "\n"), "latin1")),
        expected,
        name,
      )
    }
  })

  it.effect("fails only as NotAReport when it is cut or damaged", function* () {
    for (const name of Object.keys(answers)) {
      const whole = file(`${name}.eml`)
      for (let end = 0; end < whole.length; end += 97) yield* answer(whole.subarray(0, end))
      const damaged = Buffer.from(whole)
      for (let at = 13; at < damaged.length; at += 61) damaged[at] = (at * 31) & 255
      yield* answer(damaged)
    }
  })
})

const dsn = (recipients: number, returned: string) =>
  Buffer.from(
    "From: MAILER-DAEMON@x.test\r\nContent-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" +
      "Reporting-MTA: dns; x.test\r\n\r\n" +
      Array.from(
        { length: recipients },
        (_, i) => `Final-Recipient: rfc822; r${i}@x.test\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n`,
      ).join("") +
      `--b\r\nContent-Type: message/rfc822\r\n\r\n${returned}\r\n--b--\r\n`,
  )

/** A parsed mail for tests in which only the parts matter. */
const NO_MAIL = {
  headers: [],
  from: undefined,
  subject: undefined,
  inReplyTo: undefined,
  references: undefined,
  html: undefined,
  text: undefined,
  files: [],
  root: MimeTree.read(Buffer.alloc(0)),
}

/** Reading a complaint takes 0.1 ms, with a pattern that tries every comma 7 ms. */
const COMPLAINTS = 200
const MOST_MS_PER_COMPLAINT = 1

/** Time limit of a test: with the parser's limits it takes seconds, without them minutes to hours. */
const HANGS_MS = 60_000

describe("a hostile report", { timeout: 2 * HANGS_MS }, () => {
  const quickly = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const started = performance.now()
      const result = yield* effect
      assert.isBelow(performance.now() - started, HANGS_MS)
      return result
    })

  it.effect("of any size is parsed up to the limit", () =>
    quickly(
      Effect.gen(function* () {
        const facts = yield* parse(dsn(1, `Message-ID: <a@b>\r\n\r\n${"x".repeat(70)}\r\n`.repeat(400_000)))
        assert.deepStrictEqual(
          facts.map((fact) => [fact.recipient, fact.originalMessageId]),
          [["r0@x.test", "a@b"]],
        )
      }),
    ),
  )

  it.effect("with thousands of recipients gives at most the limit of facts", () =>
    quickly(
      Effect.gen(function* () {
        assert.strictEqual((yield* parse(dsn(5000, ""))).length, ReportFact.RECIPIENTS_LIMIT)
      }),
    ),
  )

  it("with thousands of recipients in a header has its returned message parsed once", () => {
    let readings = 0
    const addresses = Array.from({ length: 5_000 }, (_, nth) => `a${nth}@b.test`).join(",")
    const facts = ReportLegacy.read({
      mail: {
        ...NO_MAIL,
        headers: [{ key: "x-failed-recipients", originalKey: "X-Failed-Recipients", value: addresses, hasColon: true }],
      },
      text: "",
      ofType: () => {
        readings++
        return []
      },
    })
    assert.deepStrictEqual([facts.length, readings], [ReportFact.RECIPIENTS_LIMIT, 1])
  })

  it("of a complaint whose To has thousands of commas is read in a time linear in them", () => {
    const recipientOf = (to: string) =>
      ReportComplaint.read({
        mail: NO_MAIL,
        text: "",
        ofType: (pattern) => [
          pattern.test("message/feedback-report") ? "Feedback-Type: abuse\r\n" : `To: ${to}\r\n\r\nx`,
        ],
      })?.[0]?.recipient
    assert.strictEqual(recipientOf("a@b.test"), "a@b.test")
    assert.strictEqual(recipientOf('"Doe, Jane @ home" <a@b.test>'), "a@b.test")
    assert.isUndefined(recipientOf("a@b.test, c@d.test"))
    const commas = ",".repeat(4_000)
    const before = process.threadCpuUsage()
    for (let nth = 0; nth < COMPLAINTS; nth++) assert.isUndefined(recipientOf(commas))
    const { system, user } = process.threadCpuUsage(before)
    assert.isBelow((system + user) / 1_000, COMPLAINTS * MOST_MS_PER_COMPLAINT)
  })

  it.effect("with too many parts is refused before it is parsed", () =>
    quickly(
      Effect.gen(function* () {
        const bomb = Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\n".repeat(200_000)}`)
        assert.deepStrictEqual(yield* answer(bomb), { refused: "too_many_parts" })
      }),
    ),
  )

  // threat: bombs
  it.effect("of deep nesting is refused", () =>
    quickly(
      Effect.gen(function* () {
        let nested = ""
        for (let i = 0; i < 500; i++) nested += `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`
        assert.deepStrictEqual(yield* answer(Buffer.from(nested)), { refused: "unreadable" })
      }),
    ),
  )

  it.effect("of endless headers is refused", () =>
    quickly(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* answer(Buffer.from(`Subject: ${"x".repeat(400_000)}\r\n\r\n`)), {
          refused: "unreadable",
        })
      }),
    ),
  )

  it.effect("of awkward prose takes a bounded time", () =>
    quickly(
      Effect.gen(function* () {
        const openings = [
          "This message was created automatically by mail delivery software\n",
          "Hi. This is the qmail-send program\n",
          "Delivery to the following recipient failed permanently:\n",
          "Your message did not reach some or all of the intended recipients\n",
          "--- The following addresses had permanent fatal errors ---\n",
          "undeliverable\n",
        ]
        for (const opening of openings) {
          for (const filler of ["  a@b.c\n", "   \n", "<a@b.c> ", "<a@b.c>:\nx\n", "a".repeat(50), "@", " 4 5 "]) {
            yield* answer(
              Buffer.from(`From: MAILER-DAEMON@x.test\r\n\r\n${opening}${filler.repeat(1_500_000 / filler.length)}`),
            )
          }
        }
      }),
    ).pipe(Effect.asVoid),
  )
})
