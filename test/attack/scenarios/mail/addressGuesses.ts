import { MAX_GUESSES } from "../../../../apps/server/src/inbound/Guesses.ts"
import { failedExpectations, type Scenario, summarize } from "../../harness/Scenario.ts"
import { Raw, submit } from "../../harness/smtp.ts"

const PEERS = { short: 3, long: 30 }
const NAMES = { short: 300, long: 1_000 }
const AT_A_TIME = 40
/** Names after which a network must be put off. A busy machine may refuse some for a reason that is no guess. */
const MOST_NAMES = 4_000

/** Goes through a list of names to find addresses that receive, from several networks at once. */
export const addressGuesses: Scenario = {
  // threat: address-guessing
  name: "guesses of addresses",
  load: "30 networks that name 1,000 unknown recipients each, with as many connections as it takes, and then a known one",
  // The first mail starts the threads that read and judge it.
  bounds: { memory_mib: 300 },
  run: async ({ from, size, target }) => {
    const { domain } = await target.customer()
    const [port, known] = [target.mailPort, `hi@${domain}`]
    const on = async (peer: number, commands: ReadonlyArray<string>) => {
      const client = await Raw.connect(port, "127.0.0.1", from(peer))
      const replies = await client.all(["EHLO mx.example.org", "MAIL FROM:<ana@example.org>", ...commands])
      client.end()
      return replies.slice(2)
    }
    const guess = async (peer: number) => {
      const replies: Array<string> = []
      let isPutOff = false
      for (let nth = 0; nth < size(NAMES.short, NAMES.long) || (!isPutOff && nth < MOST_NAMES); nth += AT_A_TIME) {
        const names = Array.from({ length: AT_A_TIME }, (_, at) => `RCPT TO:<n${nth + at}@unknown.test>`)
        const heard = await on(peer, names)
        isPutOff = heard[0]?.startsWith("450") === true
        replies.push(...heard)
      }
      const told = replies.filter((reply) => reply.startsWith("550")).length
      const last = await on(peer, [
        `RCPT TO:<${known}>`,
        "RCPT TO:<no@unknown.test>",
        `VRFY ${known}`,
        "VRFY no@unknown.test",
      ])
      return { told, last }
    }
    const peers = await Promise.all(Array.from({ length: size(PEERS.short, PEERS.long) }, (_, peer) => guess(peer)))
    const mail = { port, from: from(200), sender: "ana@example.org", recipient: known, bytes: "Subject: x\r\n\r\nx" }
    const other = await submit(mail)
    const most = Math.max(...peers.map(({ told }) => told))
    return {
      summary: `at most ${most} refusals of a network; then ${summarize(peers.flatMap(({ last }) => last.map((reply) => reply.slice(0, 3))))}`,
      failures: failedExpectations([
        [most <= MAX_GUESSES, `a network heard of ${most} names that nobody has them`],
        [
          peers.every(({ last: [a, b, c, d] }) => a !== undefined && a.startsWith("450") && a === b && c === d),
          `a known address is told apart: ${summarize(peers.flatMap(({ last }) => last))}`,
        ],
        [other.startsWith("250"), `another network is put off: ${other}`],
      ]),
    }
  },
}
