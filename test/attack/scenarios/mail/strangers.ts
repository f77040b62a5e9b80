import { MAX_UNIDENTIFIED } from "../../../../apps/server/src/smtp/MailListener.ts"
import { hangUp, open, openMany } from "../../harness/http.ts"
import { failedExpectations, type Scenario, sleep, summarize } from "../../harness/Scenario.ts"
import { submit } from "../../harness/smtp.ts"

const STRANGERS = { short: 600, long: 2_000 }
const GREETING_MS = 500
const ORDINARY = 5
/** A stranger in the middle of a message keeps its place for ten seconds. Servers try again for days. */
const WITHIN_MS = 15_000
const PAUSE_MS = 250
const HALF = "DATA\r\nSubject: x\r\n"

/** Holds connections to the mail port from as many addresses, half of them in the middle of a message. */
export const strangers: Scenario = {
  // threat: smtp-connections
  name: "strangers at the mail port",
  load: "2,000 connections, each of an address of its own, that send half a mail or wait after a recipient",
  within_ms: 60_000,
  // The first mail starts the threads that read and judge it.
  bounds: { memory_mib: 300 },
  run: async ({ from, size, target }) => {
    const { domain } = await target.customer()
    const recipient = `hi@${domain}`
    const endpoint = { host: "127.0.0.1", port: target.mailPort }
    const crowd = await openMany(size(STRANGERS.short, STRANGERS.long), (nth) => open(endpoint, { from: from(nth) }))
    try {
      await sleep(GREETING_MS)
      for (const [nth, { socket }] of crowd.entries())
        socket.write(`EHLO x\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<${recipient}>\r\n${nth % 2 === 0 ? HALF : ""}`)
      const ordinary = async (nth: number): Promise<string> => {
        const bytes = `From: ana@example.org\r\nSubject: ${nth}\r\n\r\nHello`
        const mail = {
          port: target.mailPort,
          from: from(STRANGERS.long + nth),
          sender: "ana@example.org",
          recipient,
          bytes,
        }
        for (const end = performance.now() + WITHIN_MS; ; await sleep(PAUSE_MS)) {
          const reply = await submit(mail)
          if (reply.startsWith("250") || performance.now() > end) return reply.slice(0, 3)
        }
      }
      const replies = await Promise.all(Array.from({ length: ORDINARY }, (_, nth) => ordinary(nth)))
      const kept = crowd.filter(({ closed }) => !closed()).length
      return {
        summary: `${kept} of ${crowd.length} kept; ordinary mail: ${summarize(replies)}`,
        failures: failedExpectations([
          [replies.every((reply) => reply === "250"), `ordinary mail was not taken: ${summarize(replies)}`],
          [kept <= MAX_UNIDENTIFIED, `${kept} connections are held`],
        ]),
      }
    } finally {
      hangUp(crowd)
    }
  },
}
