import { submit } from "../../harness/smtp.ts"
import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"
import { send } from "../../harness/Target.ts"

const HEADER_BYTES = 250_000
const FOLD = 900

/** Builds a header of nested groups, folded so that no line is longer than RFC 5322 allows. */
const groups = (pieces: string): string => {
  const all = pieces.repeat(HEADER_BYTES / pieces.length)
  return (all.match(new RegExp(`.{1,${FOLD}}`, "gu")) ?? []).join("\r\n ")
}

const message = (sender: string, header: string, pieces: string) =>
  `From: <${sender}>\r\nSubject: x\r\n${header}: ${groups(pieces)}\r\n\r\nx`

export const addressHeaders: Scenario = {
  name: "address headers of 250 KB",
  load: "To, Cc and Reply-To of `a:`, `(`, `,` over submission and reports",
  run: async ({ from, size, target }) => {
    const customer = await target.customer()
    const path = target.returnPath(customer, await send(target.http, customer))
    const sender = `hi@${customer.domain}`
    const codes: Array<string> = []
    const kinds = [
      ["To", "a:"],
      ["Reply-To", "a@b.cc,"],
      ["Cc", "(<"],
    ] as const
    for (const [nth, [header, pieces]] of kinds.slice(0, size(1, 3)).entries()) {
      const bytes = message(sender, header, pieces)
      const [submission, report] = [
        { port: target.smtpPort, key: customer.key, sender, recipient: "ana@example.org" },
        { port: target.mailPort, sender: "", recipient: path },
      ]
      for (const listener of [submission, report])
        codes.push((await submit({ ...listener, bytes, from: from(nth) })).slice(0, 3))
    }
    return {
      summary: summarize(codes),
      failures: failedExpectations([[codes.every((code) => /^[245]\d\d$/u.test(code)), "a message got no answer"]]),
    }
  },
}
