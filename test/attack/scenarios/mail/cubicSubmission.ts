import { submit } from "../../harness/smtp.ts"
import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"
import { cubic } from "./messages.ts"

const REPEATS = 1_250

export const cubicSubmission: Scenario = {
  name: "submission of cubic HTML",
  load: "messages of 6.4 KB to SMTP submission, with a key",
  run: async ({ from, size, target }) => {
    const { domain, key } = await target.customer()
    const [sender, recipient] = [`hi@${domain}`, "ana@example.org"]
    const bytes = cubic(sender, recipient, REPEATS)
    const replies = await Promise.all(
      Array.from({ length: size(2, 10) }, (_, nth) =>
        submit({ port: target.smtpPort, from: from(nth), key, sender, recipient, bytes }),
      ),
    )
    const codes = replies.map((reply) => reply.slice(0, 3))
    return {
      summary: summarize(codes),
      failures: failedExpectations([[codes.every((code) => /^[245]\d\d$/u.test(code)), "a message got no answer"]]),
    }
  },
}
