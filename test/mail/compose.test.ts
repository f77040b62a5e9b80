import { assert, describe, it } from "@effect/vitest"
import * as Compose from "@waybill/mail/Compose"
import type * as Message from "@waybill/mail/Message"
import { Arbitrary, Effect, Result, Schema } from "effect"
import PostalMime from "postal-mime"
import { address, message } from "./composeMessage.ts"

const composed = (value: Message.Message) => {
  const result = Compose.compose(value)
  if (Result.isFailure(result)) return assert.fail(result.failure.message)
  return result.success
}
const raw = (value: Message.Message) => Buffer.from(composed(value).bytes).toString()
const parse = (value: Message.Message) => Effect.promise(() => PostalMime.parse(composed(value).bytes))

/** MIME knows only CRLF, and the last line end of a body is the boundary's. */
const lines = (text: string | undefined) => (text ?? "").replace(/\r\n?/g, "\n").replace(/\n+$/, "")

const Line = Schema.String.check(Schema.makeFilter((value) => value.isWellFormed() && !/[\r\n\0]/.test(value)))
const Text = Schema.String.check(Schema.makeFilter((value) => value.isWellFormed() && !value.includes("\0")))
/** Scraps that have broken MIME writers, to be mixed by the generator. */
const Scrap = Schema.Literals([
  "Receipt ", "=?utf-8?Q?x?=", "=", "ü", "日本語 ", "👩‍👩‍👧 ", "\"", "\\", "  ", "x".repeat(80), "é".repeat(90), "\t", ", ", "<a@b.c>", ";",
  "--=_", "From ", ".", "(c)", "a ".repeat(50), "%41", "'", "`", "$&",
])
const Subject = Schema.Union([Line, Schema.Array(Scrap)]).pipe((schema) =>
  Arbitrary.map(Arbitrary.schema(schema), (value) => (typeof value === "string" ? value : value.join(""))))
const Body = Schema.Union([Text, Schema.Array(Schema.Union([Scrap, Schema.Literals(["\n", "\r\n", "\r", "\n\n", " \n"])]))]).pipe(
  (schema) => Arbitrary.map(Arbitrary.schema(schema), (value) => (typeof value === "string" ? value : value.join(""))))
const Bytes = Arbitrary.map(Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))), (list) =>
  Uint8Array.from(list))

const space = (value: string) => value.replace(/\s+/gu, " ").trim()

describe("what is composed is what is read", () => {
  it.effect.prop("subjects, names and bodies", { subject: Subject, name: Subject, text: Body, html: Body }, ({ html, name, subject, text }) =>
    Effect.gen(function*() {
      const value = message({ subject, text, html: `<p>${html}</p>`, from: { address: address("hi@acme.test"), name } })
      const email = yield* parse(value)
      assert.strictEqual(space(email.subject ?? ""), space(subject))
      assert.strictEqual(space(email.from?.name ?? ""), space(name))
      assert.strictEqual(email.from?.address, "hi@acme.test")
      assert.strictEqual(lines(email.text), lines(text))
      assert.strictEqual(lines(email.html), lines(`<p>${html}</p>`))
    }), { arbitrary: { runs: 400 } })
})
