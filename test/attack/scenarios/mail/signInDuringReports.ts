import { readFileSync } from "node:fs"
import { submit } from "../../harness/smtp.ts"
import type { Reply } from "../../harness/http.ts"
import { type Attack, failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"
import { send } from "../../harness/Target.ts"
import { cubic } from "./messages.ts"

const REPORT = readFileSync(new URL("../../../fixtures/reports/gmail.eml", import.meta.url), "latin1")
const PEERS = 6
/** Maximum time for a page or a sign-in, which may wait in a queue. */
const MAX_PAGE_MS = 3_000

/** Returns reports of all kinds: genuine, cubic, deeply nested, and with many parts. */
const documents = (recipient: string): ReadonlyArray<string> => [
  REPORT.replaceAll(/^\./gmu, "..").replace(/\r?\n?$/u, ""),
  cubic("mailer-daemon@mx.attacker.test", recipient, 1_000),
  `From: <a@b.cc>\r\n${Array.from({ length: 500 }, (_, nth) => `Content-Type: multipart/mixed; boundary=b${nth}\r\n\r\n--b${nth}\r\n`).join("")}x`,
  `From: <a@b.cc>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\n".repeat(1_900)}--b--`,
  `From: <a@b.cc>\r\nCc: ${"a:\r\n ".repeat(30_000)}\r\n\r\nx`,
  `From: <a@b.cc>\r\nContent-Type: text/html\r\n\r\n${"<div><a href=x>\r\n".repeat(9_000)}`,
]

export const signInDuringReports: Scenario = {
  // threat: blocked-loop
  name: "sign-in while reports arrive",
  load: `valid and hostile reports by ${PEERS} peers without a pause, and sign-ins and pages beside them`,
  // Memory of the threads that parse reports, and of the reports.
  bounds: { memory_mib: 300 },
  run: async (attack) => {
    const { dice, from, size, target } = attack
    const customer = await target.customer()
    const recipient = target.returnPath(customer, await send(target.http, customer))
    const all = documents(recipient)
    let isOver = false
    const codes: Array<string> = []
    const peer = async (nth: number) => {
      while (!isOver) {
        const mail = { port: target.mailPort, sender: "", recipient, bytes: dice.pick(all), from: from(nth) }
        codes.push((await submit(mail)).slice(0, 3))
      }
    }
    const peers = Promise.all(Array.from({ length: PEERS }, (_, nth) => peer(nth)))
    const visited: Array<readonly [what: string, reply: Reply]> = []
    try {
      for (let round = 0; round < size(2, 8); round++) visited.push(...(await visit(attack, round)))
    } finally {
      isOver = true
      await peers
    }
    const slowest = visited.reduce((longest, [, { took_ms }]) => Math.max(longest, took_ms), 0)
    const failed = visited.filter(([, { status }]) => status !== 200).map(([what, { status }]) => `${what}: ${status}`)
    return {
      summary: `reports ${summarize(codes)}; slowest page ${Math.round(slowest)} ms`,
      failures: failedExpectations([
        [failed.length === 0, `a page failed: ${summarize(failed)}`],
        [slowest < MAX_PAGE_MS, `slow: a page took ${Math.round(slowest)} ms, bound ${MAX_PAGE_MS}`],
      ]),
    }
  },
}

/** Signs in and opens the first pages, from a separate address. */
const visit = async ({ from, target }: Attack, round: number) => {
  const page = target.visitor(from(100 + round))
  const { email, password } = target.owner
  const signedIn = await page.request("POST", "/auth/sign-in/email", { email, password })
  const pages = ["/", "/v1/session", "/v1/email/logs?limit=20", "/v1/domains", "/auth/list-sessions"]
  const visited: Array<readonly [string, Reply]> = [["/auth/sign-in/email", signedIn]]
  for (const path of pages) visited.push([path, await page.request("GET", path)])
  return visited
}
