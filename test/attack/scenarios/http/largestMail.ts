import { sendRequest } from "../../harness/http.ts"
import { type Attack, failedExpectations, type Scenario, sleep, summarize } from "../../harness/Scenario.ts"
import type { Customer } from "../../harness/Target.ts"

/** Bytes of one mail; the long form fills the largest body. */
const BYTES = { short: 1_500_000, long: 9_800_000 }
const POLL_MS = 100
const POLLS = 100

const text = (piece: string) => (bytes: number) => ({ text: repeated(piece, bytes) })
const html = (piece: string) => (bytes: number) => ({ html: repeated(piece, bytes) })
/** Repeats a piece until it takes so many bytes of a body. */
const repeated = (piece: string, bytes: number): string =>
  piece.repeat(Math.floor(bytes / (Buffer.byteLength(JSON.stringify(piece)) - 2)))

const MAILS: Readonly<Record<string, (bytes: number) => object>> = {
  "one line": text("x"),
  lines: text("The quick brown fox jumps over the lazy dog. "),
  "short lines": text("a line\n"),
  umlauts: text("é"),
  equals: text("="),
  paragraphs: html("<p>Your order has shipped.</p>"),
  "HTML without elements": html("lorem ipsum "),
  links: html("<a href='https://example.org/x'>y</a>"),
  "nested elements": html("<div>"),
  entities: html("&amp; "),
  "open elements": html("<"),
  file: (bytes) => ({ text: "x", attachments: [{ filename: "a.bin", content: "AAAA".repeat(Math.floor(bytes / 4)) }] }),
}

const isDelivered = async ({ target }: Attack, { key }: Customer, id: string): Promise<boolean> => {
  for (let poll = 0; poll < POLLS; poll++) {
    const { json } = await sendRequest(target.http, "GET", `/v1/email/logs/${id}/events`, { key })
    if (json?.data?.some(({ type }: { readonly type: string }) => type === "email.delivered")) return true
    await sleep(POLL_MS)
  }
  return false
}

/** Sends mail as large as the service takes, of every kind, one after the other, until each is delivered. */
export const largestMail: Scenario = {
  // threat: blocked-loop
  name: "largest mail",
  load: "texts, HTML and files that are accepted, each until it is delivered",
  bounds: { memory_mib: 400 },
  within_ms: 120_000,
  run: async (attack) => {
    const { size, target } = attack
    const customer = await target.customer()
    const bytes = size(BYTES.short, BYTES.long)
    const answers: Array<string> = []
    for (const [kind, make] of Object.entries(MAILS)) {
      const { domain, key } = customer
      const mail = { from: `hi@${domain}`, to: "ana@example.org", subject: kind, ...make(bytes) }
      const { json, status } = await sendRequest(target.http, "POST", "/v1/email/send", { key, body: mail })
      const isOver = status === 200 && (await isDelivered(attack, customer, json.id))
      answers.push(`${status} ${isOver ? "delivered" : `not delivered: ${kind}`}`)
    }
    return {
      summary: summarize(answers),
      failures: failedExpectations([
        [answers.every((answer) => answer === "200 delivered"), "a mail that was not accepted and delivered"],
      ]),
    }
  },
}
