import { submit } from "../../harness/smtp.ts"
import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"
import { send } from "../../harness/Target.ts"
import { cubic } from "./messages.ts"

const SENDER = "mailer-daemon@mx.attacker.test"
const REPEATS = 1_250

/** Sends reports as a recipient of one mail can: with a valid return path and without a login. */
export const cubicReport: Scenario = {
  name: "report of cubic HTML",
  load: "messages of 6.4 KB to MAIL_PORT, without a login",
  run: async ({ from, size, target }) => {
    const customer = await target.customer()
    const recipient = target.returnPath(customer, await send(target.http, customer))
    const replies = await Promise.all(
      Array.from({ length: size(2, 10) }, (_, nth) =>
        submit({
          port: target.mailPort,
          from: from(nth),
          sender: "",
          recipient,
          bytes: cubic(SENDER, recipient, REPEATS),
        }),
      ),
    )
    const codes = replies.map((reply) => reply.slice(0, 3))
    return {
      summary: summarize(codes),
      failures: failedExpectations([[codes.every((code) => /^[245]\d\d$/u.test(code)), "a message got no answer"]]),
    }
  },
}
