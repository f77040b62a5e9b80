import * as SmtpBody from "@waybill/mail/smtp/SmtpBody"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const PARTS = ["a", ".", "\r", "\n", "\u00e9"]
const MAX_PARTS = 6

/** All texts of up to six of these characters. */
const texts = (length = MAX_PARTS): ReadonlyArray<string> =>
  length === 0 ? [""] : ["", ...texts(length - 1).flatMap((rest) => PARTS.map((part) => part + rest))]

/** Place of the first CR or LF that has no partner, or -1. */
const firstBare = (text: string): number => text.search(/\r(?!\n)|(?<!\r)\n/u)
const made = (text: string) => SmtpBody.make(Buffer.from(text, "latin1"))

describe("the body of a transaction", () => {
  it("has doubled dots at the start of lines, and ends with a line end", () => {
    for (const text of texts().filter((each) => firstBare(each) === -1)) {
      const body = Result.getOrThrow(made(text))
      const lines = text === "" || text.endsWith("\r\n") ? text : `${text}\r\n`
      assert.strictEqual(Buffer.from(body.bytes).toString("latin1"), lines.replaceAll(/(?<=^|\n)\./gu, ".."), text)
      assert.strictEqual(body.size, text.length)
      assert.strictEqual(body.eightBit, text.includes("\u00e9"))
    }
  })

  it("is refused for a CR or LF without the other, with its place", () => {
    for (const text of texts().filter((each) => firstBare(each) !== -1)) {
      const body = made(text)
      assert.isTrue(Result.isFailure(body) && body.failure.at === firstBare(text), JSON.stringify(text))
    }
  })

  it("is refused for it wherever it is, and accepted with line ends everywhere", () => {
    // Longer than a block in which line ends are searched, with the break on either side of its end.
    for (let at = 16 * 1024 - 3; at <= 16 * 1024 + 3; at++) {
      const [before, after] = ["a".repeat(at), "a".repeat(5)]
      assert.isTrue(Result.isSuccess(made(`${before}\r\n${after}`)), `${at}`)
      for (const bare of ["\r", "\n", "\n\r", "\r\r\n"]) {
        const body = made(`${before}${bare}${after}`)
        assert.isTrue(Result.isFailure(body) && body.failure.at === at, `${at} ${JSON.stringify(bare)}`)
      }
    }
  })
})
