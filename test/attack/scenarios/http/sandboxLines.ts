import { sendRequest, type Reply } from "../../harness/http.ts"
import { failedExpectations, type Scenario } from "../../harness/Scenario.ts"
import { send } from "../../harness/Target.ts"

/** A line of one character, which takes three characters in the JSON of the request. */
const LINE = "x\n"

export const sandboxLines: Scenario = {
  name: "captured mail of short lines",
  load: "a text of up to 3 million lines, captured and read back",
  bounds: { memory_mib: 400 },
  run: async ({ size, target }) => {
    const customer = await target.customer()
    const to = "lines@example.org"
    const id = await send(target.http, customer, { to, text: LINE.repeat(size(400_000, 3_000_000)) })
    const list = `/v1/sandbox/messages?to=${to}&wait=${size(8, 30)}s`
    const { json, status, text } = await sendRequest(target.http, "GET", list, { key: customer.key, within_ms: 40_000 })
    const captured = json?.data?.[0]?.id as string | undefined
    if (captured === undefined)
      return { summary: `not captured: ${status} ${text.slice(0, 200)}`, failures: ["the mail was not captured"] }
    const read: Reply = await sendRequest(target.http, "GET", `/v1/sandbox/messages/${captured}`, {
      key: customer.key,
      within_ms: 40_000,
    })
    const logged = await sendRequest(target.http, "GET", `/v1/email/logs/${id}`, { key: customer.key })
    return {
      summary: `${read.status} after ${Math.round(read.took_ms)} ms; log ${logged.status}`,
      failures: failedExpectations([
        [read.status > 0 && read.status !== 500, "the mail could not be read back and got no error"],
        [logged.status === 200, "the log could not be read"],
      ]),
    }
  },
}
