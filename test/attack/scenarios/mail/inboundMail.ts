import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, type Scenario, summarize } from "../../harness/Scenario.ts"
import { submit } from "../../harness/smtp.ts"

const HEAD = "From: ana@example.org\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
const SIGNATURE = "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=a.test; s=x; h=from; bh=A; b=A\r\n"
const BYTES = { short: 3_000_000, long: 25_000_000 }
/** Ordinary mail of another network, which comes in meanwhile. */
const ORDINARY = 5

const nested = (depth: number): string => {
  const open = (at: number) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`
  return `${HEAD}${Array.from({ length: depth }, (_, at) => open(at)).join("")}\r\nx`
}

const MAILS: Readonly<Record<string, (bytes: number) => string>> = {
  parts: () => `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\nx\r\n".repeat(10_000)}--b--`,
  depth: () => nested(1_000),
  headers: () => `${"X-Field: y\r\n".repeat(80_000)}${HEAD}\r\nx`,
  groups: () => `To: ${"a:".repeat(50_000)};\r\n${HEAD}\r\nx`,
  signatures: (bytes) => `${SIGNATURE.repeat(200)}${HEAD}\r\n${"x \r\n".repeat(bytes / 4)}`,
  lines: (bytes) => `${SIGNATURE}${HEAD}\r\n${"\n".repeat(bytes / 8)}`,
  quotes: (bytes) => `${HEAD}\r\n${"> ".repeat(bytes / 8)}\r\n${"On x wrote:\r\n".repeat(5_000)}`,
}
/** Requests for each mail that was taken. */
const READS = ["", "?inline_images=true", "/raw", "/attachments/att_1", "/attachments/att_999999", "/attachments/..%2f"]

/** Sends mail to the mail port that is made to be costly, and reads all of it through the API. */
export const inboundMail: Scenario = {
  // threat: bombs
  name: "inbound mail",
  load: "mail of many parts, levels, fields, signatures and lines, and requests for each of them",
  // The threads that read and judge such mail keep their heaps, of which each has a bound.
  bounds: { memory_mib: 900 },
  within_ms: 120_000,
  run: async ({ from, size, target }) => {
    const { domain, key } = await target.customer()
    const bytes = size(BYTES.short, BYTES.long)
    const post = (client: number, raw: string) =>
      submit({
        port: target.mailPort,
        from: from(client),
        sender: "ana@example.org",
        recipient: `hi@${domain}`,
        bytes: raw,
      })
    const call = (method: string, path: string, body?: unknown) =>
      sendRequest(target.http, method, path, { key, ...(body === undefined ? {} : { body }) })
    const ordinary = async (): Promise<ReadonlyArray<string>> => {
      const replies: Array<string> = []
      for (let nth = 0; nth < ORDINARY; nth++) replies.push(await post(100, `${HEAD}\r\nHello ${nth}`))
      return replies
    }
    const [costly, others] = await Promise.all([
      Promise.all(Object.values(MAILS).map((make, client) => post(client, make(bytes)))),
      ordinary(),
    ])
    const ids = costly.flatMap((reply) => /inb_\w+/u.exec(reply)?.[0] ?? [])
    const reads = await Promise.all(
      ids.flatMap((id) => [
        ...READS.map((path) => call("GET", `/v1/inbound/${id}${path}`)),
        call("POST", `/v1/inbound/${id}/replay`),
      ]),
    )
    const to = Array.from({ length: 100 }, (_, nth) => `n${nth}@${domain}`)
    const trials = await Promise.all([
      call("POST", "/v1/inbound/routes", { match: { to: `${"*".repeat(200)}@${domain}` }, action: { type: "drop" } }),
      call("POST", "/v1/inbound/routes", { match: { subject: "x".repeat(321) }, action: { type: "store" } }),
      call("POST", "/v1/inbound/routes", { action: { type: "reject", message: "x\r\n250 2.0.0 fine" } }),
      call("POST", "/v1/inbound/routes/test", { to: [...to, `one@${domain}`], from: "ana@example.org" }),
      call("GET", `/v1/inbound?q=${"%25".repeat(300)}`),
    ])
    const statuses = [...reads, ...trials].map(({ status }) => status)
    return {
      summary: `${summarize(costly.map((reply) => reply.slice(0, 3)))}; reads: ${summarize(statuses)}`,
      failures: failedExpectations([
        [others.every((reply) => reply.startsWith("250 ")), `ordinary mail was not taken: ${summarize(others)}`],
        [
          costly.every((reply) => /^(?:250|45[12]|552|554) /u.test(reply)),
          `a mail got no answer: ${summarize(costly)}`,
        ],
        [statuses.every((status) => status !== 0 && status !== 500), `a request failed: ${summarize(statuses)}`],
        [trials.slice(0, 4).every(({ status }) => status === 400), "a route was taken that cannot be one"],
      ]),
    }
  },
}
