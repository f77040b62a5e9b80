import { MAX_STREAMS_PER_ACCOUNT } from "../../../../apps/server/src/live/EventFeed.ts"
import { hangUp, open, openMany, sendRequest } from "../../harness/http.ts"
import { failedExpectations, type Scenario, sleep } from "../../harness/Scenario.ts"
import { scheduleLargeMessages } from "./largeMessages.ts"

const UNREAD_MS = { short: 1_500, long: 8_000 }
const STREAM = "/v1/events/stream?after_position=0&include=webhook_payload"

/** Opens as many event streams as an account may have and some more, all at once, and reads nothing. */
export const unreadStreams: Scenario = {
  name: "unread event streams",
  load: "event streams of large messages that are opened together and not read",
  bounds: { memory_mib: 250 },
  within_ms: 45_000,
  run: async ({ size, target }) => {
    const customer = await target.customer()
    await scheduleLargeMessages(target, customer, size(100, 200))
    const connections = await openMany(MAX_STREAMS_PER_ACCOUNT + 2, () => open(target.http, { reads: false }))
    try {
      for (const { socket } of connections)
        socket.write(`GET ${STREAM} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${customer.key}\r\n\r\n`)
      await sleep(size(UNREAD_MS.short, UNREAD_MS.long))
      const another = await sendRequest(target.http, "GET", STREAM, { key: customer.key, within_ms: 5_000 })
      return {
        summary: `another stream: ${another.status}`,
        failures: failedExpectations([[another.status === 422, "an account has more streams than it may have"]]),
      }
    } finally {
      hangUp(connections)
    }
  },
}
