import { MAX_BATCH } from "@waybill/api/groups/Suppressions"
import { MAX_WEBHOOKS } from "@waybill/domain/webhook/Webhook"
import { sendRequest } from "../../harness/http.ts"
import { type Attack, failedExpectations, type Scenario, sleep, summarize } from "../../harness/Scenario.ts"
import type { Customer } from "../../harness/Target.ts"

/** Requests at once, of each kind. */
const AT_ONCE = { short: 2, long: 5 }
const ADDRESSES = { short: 100, long: MAX_BATCH }
const MESSAGES = { short: 20, long: 100 }
/** Longest wait of another customer's send, above which the log is held up. */
const MAX_WAIT_MS = 5_000
const PAUSE_MS = 100

/** Requests of many events from an account whose webhooks all receive each of them. */
export const webhookFanOut: Scenario = {
  // threat: fan-out
  name: "many events for many webhooks",
  load: `5 batches of mail and 5 of ${MAX_BATCH} suppressions at once, of an account with ${MAX_WEBHOOKS} webhooks`,
  bounds: { memory_mib: 400 },
  within_ms: 120_000,
  run: async (attack) => {
    const { size, target } = attack
    const [customer, other] = [await target.customer(), await target.customer()]
    for (let nth = 0; nth < MAX_WEBHOOKS; nth++) {
      const body = { url: `https://hooks.example.com/${nth}`, events: ["*"] }
      const { status } = await sendRequest(target.http, "POST", "/v1/webhooks", { key: customer.key, body })
      if (status !== 201) return { summary: `${status}`, failures: ["a webhook was not made"] }
    }
    let isOver = false
    const flooding = flood(attack, customer, size(AT_ONCE.short, AT_ONCE.long)).finally(() => (isOver = true))
    const waits: Array<number> = []
    while (!isOver) {
      waits.push(await waitOf(attack, other))
      await sleep(PAUSE_MS)
    }
    const statuses = await flooding
    const longest = Math.max(0, ...waits)
    return {
      summary: `${summarize(statuses)}; another's send waits ${Math.round(longest)} ms`,
      failures: failedExpectations([
        [statuses.every((status) => status === 200), "a request was refused"],
        [longest <= MAX_WAIT_MS, `slow: another customer's send waited ${Math.round(longest)} ms`],
      ]),
    }
  },
}

const flood = async (
  { size, target }: Attack,
  { domain, key, testKey }: Customer,
  count: number,
): Promise<ReadonlyArray<number>> => {
  const message = (nth: number) => ({ from: `hi@${domain}`, to: `a${nth}@example.org`, subject: "x", text: "x" })
  const emails = Array.from({ length: size(MESSAGES.short, MESSAGES.long) }, (_, nth) => message(nth))
  const add = (nth: number) =>
    Array.from({ length: size(ADDRESSES.short, ADDRESSES.long) }, (_, one) => ({ email: `b${nth}-${one}@example.org` }))
  const requests = Array.from({ length: count }, (_, nth) => [
    sendRequest(target.http, "POST", "/v1/suppressions/batch", { key, body: { add: add(nth) } }),
    sendRequest(target.http, "POST", "/v1/email/send/batch", { key: testKey, body: { emails } }),
  ])
  return (await Promise.all(requests.flat())).map(({ status }) => status)
}

/** Returns how long a customer waits until a message is accepted. */
const waitOf = async ({ target }: Attack, { domain, key }: Customer): Promise<number> => {
  const began = performance.now()
  const body = { from: `hi@${domain}`, to: "ana@example.org", subject: "x", text: "x" }
  await sendRequest(target.http, "POST", "/v1/email/send", { key, body })
  return performance.now() - began
}
