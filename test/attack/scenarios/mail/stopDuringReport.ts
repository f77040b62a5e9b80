import { submit } from "../../harness/smtp.ts"
import { failedExpectations, type Scenario, sleep } from "../../harness/Scenario.ts"
import * as Target from "../../harness/Target.ts"
import { cubic } from "./messages.ts"

/** Repeats that make 2 MB of HTML, from which deriving the text would take hours. */
const REPEATS = 400_000
const PARSING_MS = 500
/** Maximum time of a stop, far below the time after which supervisors kill a process. */
const MAX_STOP_MS = 10_000

/** Stops a separate process while a report is being parsed. */
export const stopDuringReport: Scenario = {
  name: "SIGTERM during a report",
  load: "a message of 2 MB to MAIL_PORT, then SIGTERM",
  run: async ({ from, target }) => {
    const service = await Target.startAnother(target)
    try {
      const customer = await service.customer()
      const recipient = service.returnPath(customer, await Target.send(service.http, customer))
      const bytes = cubic("mailer-daemon@mx.attacker.test", recipient, REPEATS)
      const reply = submit({ port: service.mailPort, from: from(0), sender: "", recipient, bytes })
      await sleep(PARSING_MS)
      const { code, took_ms } = await service.stop(MAX_STOP_MS)
      const after = `${Math.round(took_ms)} ms`
      return {
        summary: `ended with ${code ?? "a kill"} after ${after}; ${(await reply).slice(0, 3)}`,
        failures: failedExpectations([[code === 0, `SIGTERM was not answered within ${MAX_STOP_MS} ms`]]),
      }
    } finally {
      await service.kill()
    }
  },
}
