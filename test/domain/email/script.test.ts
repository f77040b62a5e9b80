import * as Script from "@waybill/domain/email/Script"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const step = (action: Script.Action, reply?: Script.Step["reply"], suppresses = false): Script.Step => ({
  action,
  reply,
  suppresses,
})

const VALID: ReadonlyArray<readonly [text: string, script: Script.Script]> = [
  ["deliver", [step("deliver")]],
  [
    "defer 451 4.7.1; defer; bounce 550 5.1.1",
    [
      step("defer", { code: 451, enhancedCode: "4.7.1" }),
      step("defer"),
      step("bounce", { code: 550, enhancedCode: "5.1.1" }),
    ],
  ],
  [" slow ;suppress;  complain+suppress ", [step("slow"), step("suppress"), step("complain", undefined, true)]],
  ["bounce+suppress\t552", [step("bounce", { code: 552, enhancedCode: undefined }, true)]],
]

const INVALID: ReadonlyArray<readonly [text: string, problem: RegExp]> = [
  ["", /^has an empty step; a step begins with one of deliver, send, defer, bounce, fail, complain, suppress, slow$/u],
  ["defer;", /^has an empty step/u],
  ["defer; bonuce 550", /^has the unknown word "bonuce" \(did you mean "bounce"\?\); a step begins/u],
  ["550 5.1.1", /^has the unknown word "550"; /u],
  [`bounce; ${"x".repeat(300)}`, /^has the unknown word "x{40}"; /u],
  ["defer 550", /^has the code "550" after "defer", which takes a code from 400 to 459; separate steps by semicolons/u],
  ["bounce 451", /takes a code from 500 to 559/u],
  ["bounce 599", /takes a code from 500 to 559/u],
  ["bounce 5.1.1", /^has the code "5\.1\.1" after "bounce"/u],
  ["bounce 550 4.1.1", /^has the enhanced code "4\.1\.1" after "bounce 550", which takes one such as 5\.1\.1/u],
  ["bounce 550 5.1", /^has the enhanced code "5\.1"/u],
  ["bounce 550 5.1.1 no such user", /^has "no" after the codes/u],
  ["deliver 250", /^has "250" after "deliver", which takes no code/u],
  ["defer+suppress", /^has \+suppress at "defer"; only "bounce" and "complain" may have it$/u],
  [
    Array(Script.MAX_STEPS + 1)
      .fill("defer")
      .join(";"),
    /^has 21 steps; at most 20 are allowed$/u,
  ],
  ["d".repeat(Script.MAX_SCRIPT_CHARS + 1), /^is 501 characters; at most 500 are allowed$/u],
]

describe("script of a test message", () => {
  for (const [text, script] of VALID)
    it(`is read: ${text.trim()}`, () => assert.deepStrictEqual(Result.getOrThrow(Script.parse(text)), script))

  for (const [text, problem] of INVALID)
    it(`is refused: ${text.slice(0, 40)}`, () => {
      const parsed = Script.parse(text)
      assert.match(Result.isFailure(parsed) ? parsed.failure : "", problem)
    })
})
