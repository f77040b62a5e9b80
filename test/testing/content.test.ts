import { assert, describe, it } from "vitest"
import { findCode } from "../../packages/testing/src/content/findCode.ts"
import { findLink } from "../../packages/testing/src/content/findLink.ts"
import { isoDuration } from "../../packages/testing/src/isoDuration.ts"

const html = (text: string) => ({ subject: "Welcome", html: text, text: null })
const plain = (text: string) => ({ subject: "Welcome", html: null, text })
/** Returns the value, or the first line of the error. */
const outcome = (body: () => string): string => {
  try {
    return body()
  } catch (error) {
    return String((error as Error).message).split("\n", 1)[0] ?? ""
  }
}

const BUTTONS = html(`<style>a{}</style><!-- <a href="https://x.test/no">Reset</a> -->
  <a class="b" href='https://x.test/r?a=1&amp;b=2'><b>Reset</b> password</a> <a href="https://x.test/help">Help</a>
  <A HREF=https://x.test/logo><img alt="Our logo" src="l.png"></A>`)

describe("a link of a test's message", () => {
  it.each([
    ["by its text", BUTTONS, "Reset password", "https://x.test/r?a=1&b=2"],
    ["by a part of its text", BUTTONS, "Reset", "https://x.test/r?a=1&b=2"],
    ["by a pattern", BUTTONS, /^help$/iu, "https://x.test/help"],
    ["by the text of its image", BUTTONS, "Our logo", "https://x.test/logo"],
    ["as the only one", html(`<a href="https://x.test/1">One</a>`), undefined, "https://x.test/1"],
    [
      "of plain text, by the words before it",
      plain("Reset: https://x.test/r.\nHelp: https://x.test/h"),
      "Reset",
      "https://x.test/r",
    ],
    ["that is missing", BUTTONS, "Cancel", `"Welcome" has no link with the text "Cancel". Its links:`],
    ["that is one of several", BUTTONS, undefined, `"Welcome" has 3 links. Its links:`],
    ["of a message without links", plain("Hi"), undefined, `"Welcome" has no link. It has no link at all.`],
  ])("is found %s", (_, message, text, expected) => {
    assert.strictEqual(
      outcome(() => findLink(message, text)),
      expected,
    )
  })
})

describe("a code of a test's message", () => {
  it.each([
    ["in groups", html("<p>Your code is <b>493 027</b>.</p>"), undefined, "493027"],
    [
      "of letters and digits",
      plain("Use A7K2P9 to sign in. Order 12345678."),
      undefined,
      `"Welcome" has several candidates for a code: A7K2P9, 12345678. Give a pattern. Its text:`,
    ],
    ["after the word that names it", plain("Order 12345678. Your code: 4711"), undefined, "4711"],
    ["after the letter of its sender", plain("G-493027 is your verification code."), undefined, "493027"],
    ["in pairs", plain("Ihr Code lautet 98 76 54."), undefined, "987654"],
    ["in groups with letters", plain("Your code is ABCD-1234."), undefined, "ABCD1234"],
    [
      "in pairs beside another number",
      plain("Ihr Code lautet 98 76 54. Order 7041"),
      undefined,
      `"Welcome" has several candidates for a code: 987654, 7041. Give a pattern. Its text:`,
    ],
    ["by a pattern", plain("Use ABC-DEF to sign in."), /Use (\S+)/u, "ABC-DEF"],
    [
      "that is missing",
      plain("Paid: $1234.00 on 2026-11-25"),
      undefined,
      `"Welcome" has no code. Give a pattern. Its text:`,
    ],
  ])("is found %s", (_, message, pattern, expected) => {
    assert.strictEqual(
      outcome(() => findCode(message, pattern)),
      expected,
    )
  })
})

describe("a duration of a test", () => {
  it.each([
    ["3 days", "P3D"],
    ["1h 30m", "PT1H30M"],
    ["2 weeks and 1 day", "P2W1D"],
    ["90 seconds", "PT90S"],
    ["P1DT12H", "P1DT12H"],
    ["soon", `"soon" is not a duration such as "3 days", "1h 30m" or "P3D".`],
    ["", `"" is not a duration such as "3 days", "1h 30m" or "P3D".`],
    ["3 parsecs", `"3 parsecs" is not a duration such as "3 days", "1h 30m" or "P3D".`],
  ])("%s", (text, expected) => {
    assert.strictEqual(
      outcome(() => isoDuration(text)),
      expected,
    )
  })
})
