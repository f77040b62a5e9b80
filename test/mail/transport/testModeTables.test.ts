import * as Script from "@waybill/domain/email/Script"
import * as Simulator from "@waybill/mail/transport/Simulator"
import type * as Transport from "@waybill/mail/transport/Transport"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"
import { outgoing } from "./outgoing.ts"

const PAGE = readFileSync("docs/test-mode.md", "utf8")
/** Cells of the rows of the table with this heading. */
const table = (heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, rows = ""] = PAGE.split(`| ${heading} |`)
  const [body = ""] = rows.split("\n\n")
  return body
    .split("\n")
    .slice(2)
    .map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}
const quoted = (cell = ""): ReadonlyArray<string> => [...cell.matchAll(/`([^`]+)`/gu)].map(([, text = ""]) => text)
/** Codes that a sentence names: "with 451 4.3.0". */
const codesIn = (text: string) => /\b([45]\d\d) (\d\.\d\.\d)\b/u.exec(text)?.slice(1).join(" ")
const codesOf = ({ code, enhanced_code }: Transport.RecipientOutcome) =>
  code === null || code < 400 ? undefined : `${code} ${enhanced_code}`

/** Returns the outcomes of the attempts until one is final. */
const outcomesOf = (recipient: string, script?: Script.Script) =>
  Effect.gen(function* () {
    const outcomes: Array<Transport.RecipientOutcome> = []
    for (let attempt = 1; attempt === 1 || outcomes.at(-1)?.status === "deferred"; attempt++) {
      const message = outgoing({ attempt, scriptOf: () => script })
      const fiber = yield* Effect.forkChild(Simulator.simulate(message, recipient, "any"))
      yield* TestClock.adjust(Simulator.SLOW_MS)
      outcomes.push(yield* Fiber.join(fiber))
    }
    return outcomes
  })
const statusOf = (outcome: Transport.RecipientOutcome | undefined) => outcome?.followUp ?? outcome?.status

describe("the tables of the page on test mode", () => {
  it.effect("name the outcome of each recipient and every name that has one", function* () {
    const rows = table("recipient | final status | what happens")
    const names = rows.map(([name]) => quoted(name)[0]?.replace("@", ""))
    assert.sameMembers(names, [...Simulator.STEPS.keys()])
    for (const [name = "", status, effect = ""] of rows) {
      const outcomes = yield* outcomesOf(`${quoted(name)[0]}shop.example.org`)
      assert.deepStrictEqual([name, statusOf(outcomes.at(-1))], [name, quoted(status)[0]])
      assert.deepStrictEqual([name, codesIn(effect)], [name, outcomes[0] && codesOf(outcomes[0])])
      assert.strictEqual(effect.includes("twice"), outcomes.length === 3)
    }
  })

  it.effect("name every step of a script and its outcome", function* () {
    const rows = table("step | what happens").map(([steps, effect = ""]) => ({ steps: quoted(steps), effect }))
    const words = rows.flatMap(({ steps }) => steps.map((step) => step.split(/[ +]/u)[0]))
    assert.sameMembers([...new Set(words)], [...Script.ACTIONS])
    for (const { effect, steps } of rows) {
      const [first = ""] = steps
      for (const step of steps) {
        const script = Result.getOrThrow(Script.parse(step))
        const [outcome] = yield* outcomesOf("ana@example.org", script)
        if (outcome === undefined) return assert.fail(`${step} has no outcome`)
        const [, code, enhanced] = step.split(" ")
        if (code !== undefined) assert.strictEqual(String(outcome.code), code)
        if (enhanced !== undefined) assert.strictEqual(outcome.enhanced_code, enhanced)
        if (step === first && codesIn(effect) !== undefined) assert.strictEqual(codesOf(outcome), codesIn(effect))
        const said = OUTCOMES.find(([pattern]) => pattern.test(`${effect} ${rowBefore(rows, effect)}`))
        assert.deepStrictEqual([step, statusOf(outcome)], [step, said?.[1]])
      }
    }
  })
})

/** "The same, and …" speaks of the row before. */
const rowBefore = (rows: ReadonlyArray<{ readonly effect: string }>, effect: string): string =>
  effect.startsWith("the same") ? (rows[rows.findIndex((row) => row.effect === effect) - 1]?.effect ?? "") : ""

/** Words of the page for each status. */
const OUTCOMES: ReadonlyArray<readonly [RegExp, string]> = [
  [/reported as spam/u, "complained"],
  [/stays `sent`/u, "sent"],
  [/is deferred/u, "deferred"],
  [/bounces/u, "bounced"],
  [/fails/u, "failed"],
  [/counts as suppressed/u, "suppressed"],
  [/is delivered/u, "delivered"],
]
