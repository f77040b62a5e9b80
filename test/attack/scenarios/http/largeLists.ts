import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, type Scenario, summarize } from "../../harness/Scenario.ts"
import { scheduleLargeMessages } from "./largeMessages.ts"

/** Postmark's list has no cursor, so that one that would be too long is refused. */
const LISTS: ReadonlyArray<readonly [path: string, status: number]> = [
  ["/compat/postmark/messages/outbound?count=500", 422],
  ["/compat/postmark/messages/outbound?count=20&offset=80", 200],
  ["/compat/resend/emails?limit=100", 200],
  ["/v1/events?limit=1000", 200],
  ["/v1/events?limit=1000&include=webhook_payload", 200],
  ["/v1/email/logs?limit=100", 200],
]

export const largeLists: Scenario = {
  // threat: large-pages
  name: "largest lists",
  load: "lists of messages with a hundred long recipients, as many as a list may have",
  bounds: { memory_mib: 500 },
  within_ms: 60_000,
  run: async ({ size, target }) => {
    const customer = await target.customer()
    await scheduleLargeMessages(target, customer, size(300, 500))
    const statuses: Array<number> = []
    for (const [path] of LISTS) {
      const headers = { authorization: `Bearer ${customer.key}`, "x-postmark-server-token": customer.key }
      statuses.push((await sendRequest(target.http, "GET", path, { headers })).status)
    }
    return {
      summary: summarize(statuses),
      failures: failedExpectations([
        [LISTS.every(([, status], nth) => status === statuses[nth]), "a list has another answer than it should"],
      ]),
    }
  },
}
