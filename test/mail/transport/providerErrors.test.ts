import * as ProviderError from "@waybill/mail/provider/ProviderError"
import * as ProviderRules from "@waybill/mail/provider/ProviderRules"
import * as Reply from "@waybill/mail/reply/Reply"
import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"

interface Sample {
  readonly error: Readonly<Record<string, unknown>>
  /** Id of the rule that decides. */
  readonly rule?: string
  readonly retry_after_ms?: number
  /** Expected fields of the SMTP reply. */
  readonly reply?: object
}

const SAMPLES = globSync("test/fixtures/providers/*.json")
  .toSorted()
  .flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as ReadonlyArray<Sample>)

describe("errors of providers", () => {
  it.each(SAMPLES.map((sample) => [JSON.stringify(sample.error), sample] as const))("%s", (_, sample) => {
    const read = ProviderError.read(Object.assign(new Error(), sample.error))
    if (read._tag === "Reply") assert.deepInclude(read.reply, sample.reply ?? { is: "no reply" })
    else {
      assert.strictEqual(read.rule.id, sample.rule)
      assert.strictEqual(read.retry_after_ms, sample.retry_after_ms ?? null)
    }
  })

  it("each rule has a sample", () => {
    const ids = [...ProviderRules.RULES, ProviderRules.FALLBACK].map(({ id }) => id)
    const sampled = new Set(SAMPLES.map(({ rule }) => rule))
    assert.deepStrictEqual(
      ids.filter((id) => !sampled.has(id)),
      [],
    )
  })

  it("reads what is no error at all", () => {
    for (const cause of [undefined, null, "failed", 7, {}]) {
      const read = ProviderError.read(cause)
      assert.strictEqual(read._tag === "Rule" ? read.rule.id : read._tag, "unknown")
    }
  })

  it("only the beginning of a long text is read", () => {
    const page = "x".repeat(Reply.REPLY_TEXT_LIMIT)
    const read = ProviderError.read({ name: `${page}Throttling`, message: `${page} daily message quota` })
    assert.deepInclude(read, { rule: ProviderRules.FALLBACK, text: page })
    const reply = ProviderError.read({ responseCode: 550, response: `550 ${page}${page}` })
    assert.isAtMost(reply._tag === "Reply" ? reply.reply.text.length : Number.NaN, Reply.REPLY_TEXT_LIMIT)
  })

  it("a pause that a provider asks for is bounded", () => {
    const read = ProviderError.read({ status: 429, retryAfter: 10 ** 9 })
    assert.strictEqual(read._tag === "Rule" ? read.retry_after_ms : null, ProviderError.MAX_RETRY_AFTER_MS)
  })
})
