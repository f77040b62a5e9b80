import { gzipSync } from "node:zlib"
import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"

const TOKEN = "POSTMARK_API_TEST"
/** Bytes of the largest body that the token may send. */
const BYTES = 64 * 1024
const CLIENTS = 4

const message = { From: "a@acme.test", To: "b@example.org", Subject: "s", TextBody: "x" }
/** Fills a body with one more field or entry after the other. */
const filled = (entry: (nth: number) => string, open: string, close: string): string => {
  let body = open
  for (let nth = 0; body.length + entry(nth).length + close.length < BYTES; nth++) body += entry(nth)
  return body + close
}
const within = (fields: string): string => JSON.stringify(message).replace(/\}$/u, `,${fields}}`)
const BODIES: ReadonlyArray<string | Buffer> = [
  filled((nth) => `,"f${nth}":1`, JSON.stringify(message).replace(/\}$/u, ""), "}"),
  within(filled((nth) => `${nth === 0 ? "" : ","}{"Name":"X-${nth}","Value":""}`, '"Headers":[', "]")),
  within(filled((nth) => `${nth === 0 ? "" : ","}{"x":1}`, '"Attachments":[', "]")),
  within(filled((nth) => `${nth === 0 ? "" : ","}"m${nth}":{}`, '"Metadata":{', "}")),
  JSON.stringify({ ...message, To: `${"a".repeat(60)},`.repeat(900) }),
  JSON.stringify({ ...message, To: '"'.repeat(BYTES / 2 - 200) }),
  `[${Array.from({ length: 10 }, () => JSON.stringify({ ...message, HtmlBody: "<".repeat(6_000), To: "x," })).join()}]`,
  `[${Array.from({ length: 5_000 }, () => "{}").join()}]`,
  gzipSync(Buffer.alloc(32 * 1024 * 1024, " ")),
]

/** Sends the largest requests that need no key, each of which is checked as a send is. */
export const publicTestToken: Scenario = {
  name: "the public test token of Postmark",
  load: "the largest bodies without a key: fields, headers, errors, messages, gzip",
  run: async ({ from, size, target }) => {
    const count = size(36, 600)
    const statuses: Array<number> = []
    let next = 0
    const client = async () => {
      for (let nth = next++; nth < count; nth = next++) {
        const raw = BODIES[nth % BODIES.length] ?? ""
        const path = typeof raw === "string" && raw.startsWith("[") ? "/email/batch" : "/email"
        const encoding = typeof raw === "string" ? {} : { "content-encoding": "gzip" }
        const headers = { "x-postmark-server-token": TOKEN, ...encoding }
        const url = `/compat/postmark${path}`
        statuses.push((await sendRequest(target.http, "POST", url, { raw, from: from(nth), headers })).status)
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    return {
      summary: summarize(statuses.toSorted((one, other) => one - other)),
      failures: failedExpectations([
        [statuses.every((status) => status >= 200 && status < 500), "no answer, or an internal error"],
      ]),
    }
  },
}
