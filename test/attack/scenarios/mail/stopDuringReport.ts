import { handIn } from "../../harness/smtp.ts"
import { broken, type Scenario, sleep } from "../../harness/Scenario.ts"
import * as Target from "../../harness/Target.ts"
import { cubic } from "./messages.ts"

/** Repeats that make 2 MB of HTML, from which deriving the text would take hours. */
const REPEATS = 400_000
const BEGUN_MS = 500
/** Maximum time of a stop, far below the time after which supervisors kill a process. */
const STOPS_WITHIN_MS = 10_000

/** Stops a separate process while a report is being parsed. */
export const stopDuringReport: Scenario = {
  name: "SIGTERM during a report",
  sends: "a message of 2 MB to REPORTS_PORT, then SIGTERM",
  run: async ({ from, target }) => {
    const own = await Target.another(target)
    try {
      const recipient = own.returnPath(await Target.send(own.http, await own.customer()))
      const bytes = cubic("mailer-daemon@mx.attacker.test", recipient, REPEATS)
      const reply = handIn({ port: own.reportsPort, from: from(0), sender: "", recipient, bytes })
      await sleep(BEGUN_MS)
      const { code, took_ms } = await own.stop(STOPS_WITHIN_MS)
      const after = `${Math.round(took_ms)} ms`
      return {
        answered: `ended with ${code ?? "a kill"} after ${after}; ${(await reply).slice(0, 3)}`,
        broken: broken([[code === 0, `SIGTERM was not answered within ${STOPS_WITHIN_MS} ms`]]),
      }
    } finally {
      await own.kill()
    }
  },
}
