import * as net from "node:net"
import { freePort } from "../../../support/process/service.ts"
import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, type Scenario } from "../../harness/Scenario.ts"
import { submit, plain, Raw } from "../../harness/smtp.ts"
import * as Target from "../../harness/Target.ts"

const ANONYMOUS_PER_MINUTE = 120
const CROWD = 260

/** Attacks every listener of a process over IPv6; the limits are those of IPv4. */
export const ipv6: Scenario = {
  // threat: smtp-connections
  name: "IPv6 peers",
  load: "::1 to HTTP, submission, reports and metrics; a /64 of clients behind a proxy; a crowd on submission",
  run: async ({ dice, target }) => {
    if (!(await hasLoopback())) return { summary: "this machine has no ::1", failures: [] }
    const metrics = { host: "::1", port: await freePort() }
    const settings = {
      HOST: "::1",
      TRUSTED_PROXIES: "::1",
      METRICS_HOST: "::1",
      METRICS_PORT: String(metrics.port),
    }
    const service = await Target.startAnother(target, settings)
    try {
      const customer = await service.customer()
      const recipient = service.returnPath(customer, await Target.send(service.http, customer))
      const sender = `hi@${customer.domain}`
      const bytes = `From: <${sender}>\r\nTo: <ana@example.org>\r\nSubject: x\r\n\r\nx`
      const mail = { host: "::1", bytes }
      const submitted = await submit({
        ...mail,
        port: service.smtpPort,
        key: customer.key,
        sender,
        recipient: "ana@example.org",
      })
      const reported = await submit({ ...mail, port: service.mailPort, sender: "", recipient })
      const healthy = await sendRequest(service.http, "GET", "/healthz")
      const measured = await sendRequest(metrics, "GET", "/metrics", { headers: { host: `[::1]:${metrics.port}` } })
      // Addresses of one /64 count as one client, whatever proxy they came by and however they are written.
      const network = `2001:db8:${dice.text(3, "123456789abcdef")}:1`
      const statuses: Array<number> = []
      for (let nth = 0; nth < 2 * ANONYMOUS_PER_MINUTE + 10; nth++) {
        const headers = { "x-forwarded-for": `${network}:${dice.text(4, "0123456789abcdef")}::${nth.toString(16)}` }
        statuses.push((await sendRequest(service.http, "GET", "/v1/account", { headers })).status)
      }
      const { open, refused } = await openCrowd(service.smtpPort, customer.key)
      const admitted = statuses.filter((status) => status === 401).length
      return {
        summary: `HTTP ${healthy.status}, submission ${submitted.slice(0, 3)}, reports ${reported.slice(0, 3)}, metrics ${measured.status}; ${admitted} anonymous requests of a /64; ${open} of ${CROWD} connections`,
        failures: failedExpectations([
          [healthy.status === 200, "HTTP does not answer"],
          [submitted.startsWith("250"), `submission: ${submitted}`],
          [reported.startsWith("250"), `reports: ${reported}`],
          [measured.status === 200, "no metrics"],
          // At most one minute ends during the requests.
          [admitted <= 2 * ANONYMOUS_PER_MINUTE && statuses.includes(429), "a /64 is more than one client"],
          [refused, "one address may take all connections of submission"],
        ]),
      }
    } finally {
      await service.kill()
    }
  },
}

const hasLoopback = () =>
  new Promise<boolean>((resolve) => {
    const server = net.createServer().listen(0, "::1")
    server.on("listening", () => server.close(() => resolve(true)))
    server.on("error", () => resolve(false))
  })

/** Opens connections of one address; the last ones are refused for now. */
const openCrowd = async (port: number, key: string) => {
  const clients: Array<Awaited<ReturnType<typeof Raw.connect>>> = []
  for (let nth = 0; nth < CROWD; nth++) clients.push(await Raw.connect(port, "::1"))
  const last = clients.at(-1)
  const reply = last === undefined || last.closed ? "closed" : (await last.all(["EHLO x", plain(key)])).at(-1)
  const open = clients.filter(({ closed }) => !closed).length
  for (const client of clients) client.end()
  return { open, refused: reply === "closed" || open < CROWD }
}
