import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"

/** Host headers of a page on another site whose name was made to resolve to this machine (DNS rebinding). */
const HOSTS = ["evil.example", "evil.example:3025", "127.0.0.1.evil.example", "localhost.evil.example"]

export const metricsHost: Scenario = {
  name: "metrics under another host",
  load: "GET /metrics from loopback with the Host of another site",
  run: async ({ from, target }) => {
    const { port } = target.http
    const own = await sendRequest(target.http, "GET", "/metrics", { headers: { host: `127.0.0.1:${port}` } })
    const foreign = []
    for (const host of HOSTS)
      foreign.push(await sendRequest(target.http, "GET", "/metrics", { from: from(0), headers: { host } }))
    const statuses = foreign.map(({ status }) => status)
    return {
      summary: `own host ${own.status}, others ${summarize(statuses)}`,
      failures: failedExpectations([
        [own.status === 200, "its own host gets no metrics"],
        [foreign.every(({ text }) => !text.includes("waybill_")), "another host gets metrics"],
      ]),
    }
  },
}
