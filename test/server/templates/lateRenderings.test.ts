import { mock } from "node:test"
import { EMPTY } from "@waybill/domain/template/TemplateState"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Rendering from "@waybill/templates/version/Rendering"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { MAX_LATE_PER_MINUTE } from "../../../apps/server/src/templates/LateRenderings.ts"
import * as Programs from "../../../apps/server/src/templates/Programs.ts"
import * as Templating from "../../../apps/server/src/templates/Templating.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import { longestTurn } from "../../support/longestTurn.ts"
import { processorMs } from "../../support/processorMs.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { MAIL } from "./receiptTemplate.ts"

/** Takes longer than a rendering may, in every try. */
const SLOW = "{% for i in (1..900000) %}{% if i == 0 %}{% endif %}{% endfor %}"
const MESSAGES = 100
/** Two tries, and the other work of a batch. Without a bound it is a hundred times two tries, of 50 ms each. */
const BATCH_MS = 2_500
const TURN_MS = 250

layer(HttpWorld.layer(), { excludeTestServices: true })("renderings that take too long", (it) => {
  const account = Effect.fnUntraced(function* (domain: string, text: string) {
    const { call } = yield* signUp({ domains: [domain] })
    yield* call("POST", "/v1/templates", { name: "Any", alias: "any", subject: "Hi", text })
    yield* call("POST", "/v1/templates/any/publish", {})
    const mail = { ...MAIL, from: `hi@${domain}`, template: { alias: "any" } }
    return { call, mail, send: () => call("POST", "/v1/email/send", mail) }
  })

  it.effect("are tried twice in a batch, and its other messages are refused without work", function* () {
    const { call, mail } = yield* account("batch.test", SLOW)
    const other = yield* account("other.test", "Hi")
    const before = processorMs()
    const longest = longestTurn()
    const batch = call("POST", "/v1/email/send/batch", {
      mode: "permissive",
      emails: Array.from({ length: MESSAGES }, () => mail),
    })
    const [{ json, status }, sent] = yield* Effect.all([batch, other.send()], { concurrency: 2 })
    assert.isBelow(longest(), TURN_MS)
    assert.isBelow(processorMs() - before, BATCH_MS)
    assert.strictEqual(status, 200, JSON.stringify(json))
    const reasons: ReadonlyArray<string> = json.data.map(
      (each: { readonly error: { readonly reason: string } }) => each.error.reason,
    )
    assert.deepStrictEqual(
      reasons,
      Array.from({ length: MESSAGES }, () => "template_not_rendered"),
    )
    assert.strictEqual(sent.status, 200)
  })

  it.effect("stop those of the account, and not of others, once there are too many in a minute", function* () {
    const { send } = yield* account("many.test", SLOW)
    const other = yield* account("else.test", "Hi")
    const reasons: Array<string | undefined> = []
    // The minute may end meanwhile.
    while (reasons.length <= 2 * MAX_LATE_PER_MINUTE && reasons.at(-1) !== "request_rate") {
      const answer = yield* send()
      reasons.push(reasonOf(answer)[1])
      if (answer.status === 429) assert.isAbove(Number(answer.headers.get("retry-after")), 0)
    }
    assert.strictEqual(reasons.at(-1), "request_rate")
    // The first is tried twice, and those after it once.
    assert.isAtLeast(reasons.length, MAX_LATE_PER_MINUTE)
    assert.strictEqual((yield* other.send()).status, 200)
  })
})

describe("previews that take too long", () => {
  const prepared = (text: string) => Result.getOrThrow(Rendering.prepare({ ...EMPTY, text }, new Map(), undefined))
  const render = (account_id: AccountId, text: string) =>
    Effect.result(Templating.render(account_id, prepared(text), { variables: {}, locale: null, time_zone: null })).pipe(
      Effect.map((result) => (Result.isSuccess(result) ? result.success.text : result.failure.reason)),
    )
  const test = Effect.gen(function* () {
    const one: AccountId = id("AccountId")
    const slow = Array.from({ length: MAX_LATE_PER_MINUTE / 2 }, () => render(one, SLOW))
    const reasons = yield* Effect.all(slow)
    assert.deepStrictEqual(new Set(reasons), new Set(["template_not_rendered"]))
    assert.strictEqual(yield* render(one, "Hi"), "request_rate")
    assert.strictEqual(yield* render(id("AccountId"), "Hi"), "Hi")
    yield* TestClock.adjust(Duration.minutes(1))
    assert.strictEqual(yield* render(one, "Hi"), "Hi")
  })

  it.effect("are tried twice each, and stop all of the account until the minute is over", function* () {
    yield* Effect.provide(test, Programs.layer)
  })

  it.effect("count also if they were done in the end", function* () {
    const one: AccountId = id("AccountId")
    // Clocks by which each piece of work takes twice the time of a rendering.
    let ms = 0
    const later = () => (ms += 100)
    const clocks = [
      mock.method(performance, "now", later),
      mock.method(process, "threadCpuUsage", () => ({ user: later() * 1_000, system: 0 })),
    ]
    const test = Effect.all(Array.from({ length: MAX_LATE_PER_MINUTE + 1 }, () => render(one, "Hi")))
    const texts = yield* Effect.provide(test, Programs.layer).pipe(
      Effect.ensuring(Effect.sync(() => clocks.forEach((clock) => clock.mock.restore()))),
    )
    assert.deepStrictEqual(texts, [...Array.from({ length: MAX_LATE_PER_MINUTE }, () => "Hi"), "request_rate"])
  })
})
