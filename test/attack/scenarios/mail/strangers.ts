import { hangUp, open, openMany } from "../../harness/http.ts"
import { broken, type Scenario, sleep, within } from "../../harness/Scenario.ts"
import { plain, Raw } from "../../harness/smtp.ts"

const STRANGERS = 1_000
const PER_ADDRESS = 190
const GREETED_MS = 500
const LOGIN_MS = 5_000

/** Fills all connections of submission with clients that never log in. */
export const strangers: Scenario = {
  name: "idle strangers on submission",
  sends: `${STRANGERS} connections from several addresses that say EHLO and wait`,
  run: async ({ from, target }) => {
    const { key } = await target.customer()
    const place = { host: "127.0.0.1", port: target.smtpPort }
    const crowd = await openMany(STRANGERS, (nth) => open(place, { from: from(Math.floor(nth / PER_ADDRESS)) }))
    try {
      // A client that speaks before the greeting is refused for that reason alone.
      await sleep(GREETED_MS)
      for (const { socket } of crowd) socket.write("EHLO stranger.test\r\n")
      await sleep(GREETED_MS)
      const login = async () => {
        const client = await Raw.connect(target.smtpPort, "127.0.0.1", from(200))
        const replies = await client.all(["EHLO customer.test", plain(key)])
        client.end()
        return replies.at(-1) ?? "closed"
      }
      const reply = await within(LOGIN_MS, login(), "silence")
      const left = crowd.filter(({ closed }) => !closed()).length
      return {
        answered: `${left} strangers kept; a customer: ${reply.slice(0, 30)}`,
        broken: broken([[reply.startsWith("235"), "a customer cannot log in beside them"]]),
      }
    } finally {
      hangUp(crowd)
    }
  },
}
