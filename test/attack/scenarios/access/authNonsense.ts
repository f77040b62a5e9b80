import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"

const PATHS = [
  "/auth/reset-password",
  "/auth/sign-in/email",
  "/auth/verify-password",
  "/auth/two-factor/verify-totp",
  "/auth/two-factor/verify-backup-code",
  "/auth/passkey/verify-authentication",
  "/auth/passkey/verify-registration",
  "/auth/change-password",
  "/auth/revoke-session",
]
const NONSENSE = ["\0", "a\0b", "\u{d800}", "x".repeat(60_000), "' OR 1=1 --", "\u202e\u2028\u0085", "[[[[[["]
const FIELDS = ["token", "newPassword", "email", "password", "code", "id", "response"]
const DEPTH = 10_000

/**
 * Sends invalid data to `/auth` without a session. Each request is refused in the service's words, without internal
 * details.
 */
export const authNonsense: Scenario = {
  name: "invalid data at /auth",
  load: "NUL, lone surrogates, deep nesting, prototypes and wrong types in every field",
  run: async ({ dice, from, size, target }) => {
    const before = target.output().length
    const bodies = [
      ...NONSENSE.map((value) => JSON.stringify(Object.fromEntries(FIELDS.map((field) => [field, value])))),
      JSON.stringify(Object.fromEntries(FIELDS.map((field) => [field, { $ne: null }]))),
      `{"token":${"[".repeat(DEPTH)}1${"]".repeat(DEPTH)}}`,
      '{"__proto__":{"token":"x"},"newPassword":"a long enough password"}',
      '{"token":"\\u0000","newPassword":"a long enough password"}',
      "null",
      "{",
    ]
    const count = size(60, 500)
    const replies = []
    for (let nth = 0; nth < count; nth++) {
      // Each path gets the first bodies in turn, then random ones.
      const path = PATHS[nth % PATHS.length] ?? ""
      const raw = nth < bodies.length * 2 ? (bodies[nth % bodies.length] ?? "") : dice.pick(bodies)
      const query = nth % 3 === 0 ? "?token=%00" : ""
      replies.push(
        await sendRequest(target.http, "POST", path + query, { raw, from: from(nth), headers: { origin: target.url } }),
      )
    }
    const token = { token: "\0", newPassword: "a long enough password" }
    replies.push(
      await sendRequest(target.http, "POST", "/auth/reset-password", {
        body: token,
        from: from(count),
        headers: { origin: target.url },
      }),
    )
    const printed = target.output().slice(before)
    const leaks = replies.filter(({ text }) => INSIDES.test(text))
    const statuses = replies.map(({ status }) => status)
    return {
      summary: summarize(statuses.toSorted((a, b) => a - b)),
      failures: failedExpectations([
        [statuses.every((status) => status >= 400 && status < 500), "an answer is not a 4xx"],
        [leaks.length === 0, `an answer shows internal details: ${leaks[0]?.text.slice(0, 80)}`],
        [!INSIDES.test(printed), `standard output shows internal details: ${printed.slice(0, 80)}`],
      ]),
    }
  },
}

/** Marks of internal details: a stack, a query or a row. */
const INSIDES = /\bat \S+:\d+|node_modules|\b(?:SELECT|INSERT|UPDATE) |better.?(?:auth|call)|user_verifications/u
