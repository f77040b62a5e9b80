import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, type Scenario, summarize } from "../../harness/Scenario.ts"

const HOUR_MS = 3_600_000
const MIB = 1024 * 1024
/** The JSON around a body counts too. */
const SLACK_BYTES = 1024

/** Stores content for no volume: mail is scheduled and canceled again and again, alone and in batches. */
export const scheduleAndCancel: Scenario = {
  name: "mail scheduled and canceled",
  load: "up to 300 times 1 MiB of an account that may store 16 MiB of scheduled mail, and canceled at once",
  bounds: { memory_mib: 400 },
  run: async ({ size, target }) => {
    const limit = size(2, 16) * MIB
    const { domain, key } = await target.customer({ scheduled_bytes: limit })
    const post = (path: string, body?: unknown) =>
      sendRequest(target.http, "POST", path, { key, ...(body === undefined ? {} : { body }) })
    const messageOf = (nth: number, bytes: number) => ({
      from: `hi@${domain}`,
      to: "ana@example.org",
      subject: "x",
      text: `${nth} `.repeat(bytes).slice(0, bytes),
      scheduled_at: new Date(Date.now() + HOUR_MS).toISOString(),
    })
    const bytes = size(MIB / 8, MIB)
    const rounds = size(40, 300)
    const answers: Array<number | string> = []
    const canceled: Array<number> = []
    for (let nth = 0; nth < rounds; nth += 4) {
      const single = await post("/v1/email/send", messageOf(nth, bytes))
      const emails = [1, 2, 3].map((next) => messageOf(nth + next, bytes))
      const batch = await post("/v1/email/send/batch", { emails, mode: "permissive" })
      answers.push(single.json?.error?.reason ?? single.status)
      const ids: ReadonlyArray<string | null | undefined> = [
        single.json?.id,
        ...((batch.json?.data ?? []) as ReadonlyArray<{ readonly id: string | null }>).map(({ id }) => id),
      ]
      for (const id of ids) if (typeof id === "string") canceled.push((await post(`/v1/email/${id}/cancel`)).status)
    }
    const { json } = await sendRequest(target.http, "GET", "/v1/account", { key })
    const { scheduled_at: _, ...now } = messageOf(rounds, 10)
    const atOnce = await post("/v1/email/send", now)
    const stored = canceled.length * bytes
    return {
      summary: `${summarize(answers)}; ${canceled.length} of ${rounds} stored, ${json?.usage?.scheduled_bytes} bytes`,
      failures: failedExpectations([
        [canceled.length > 0 && canceled.every((status) => status === 200), "mail could not be canceled"],
        [stored <= limit + SLACK_BYTES, `${stored} bytes were stored for unsent mail, of ${limit}`],
        [json?.usage?.emails === 0, "canceled mail was not given back"],
        [atOnce.status === 200, "mail that is sent at once was refused"],
      ]),
    }
  },
}
