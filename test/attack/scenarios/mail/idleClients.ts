import { hangUp, open, openMany } from "../../harness/http.ts"
import { failedExpectations, type Scenario, sleep, withTimeout } from "../../harness/Scenario.ts"
import { plain, Raw } from "../../harness/smtp.ts"

const CLIENTS = 1_000
const PER_ADDRESS = 190
const GREETING_MS = 500
const LOGIN_MS = 5_000

/** Fills all connections of submission with clients that never log in. */
export const idleClients: Scenario = {
  name: "idle clients on submission",
  load: `${CLIENTS} connections from several addresses that say EHLO and wait`,
  run: async ({ from, target }) => {
    const { key } = await target.customer()
    const endpoint = { host: "127.0.0.1", port: target.smtpPort }
    const crowd = await openMany(CLIENTS, (nth) => open(endpoint, { from: from(Math.floor(nth / PER_ADDRESS)) }))
    try {
      // A client that speaks before the greeting is refused for that reason alone.
      await sleep(GREETING_MS)
      for (const { socket } of crowd) socket.write("EHLO idle.test\r\n")
      await sleep(GREETING_MS)
      const login = async () => {
        const client = await Raw.connect(target.smtpPort, "127.0.0.1", from(200))
        const replies = await client.all(["EHLO customer.test", plain(key)])
        client.end()
        return replies.at(-1) ?? "closed"
      }
      const reply = await withTimeout(LOGIN_MS, login(), "silence")
      const remaining = crowd.filter(({ closed }) => !closed()).length
      return {
        summary: `${remaining} idle clients kept; a customer: ${reply.slice(0, 30)}`,
        failures: failedExpectations([[reply.startsWith("235"), "a customer cannot log in beside the idle clients"]]),
      }
    } finally {
      hangUp(crowd)
    }
  },
}
