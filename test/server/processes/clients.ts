import type * as Id from "@waybill/domain/values/Id"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { Duration, Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import * as World from "../../support/world/World.ts"
import type * as ServiceProcess from "../../support/world/ServiceProcess.ts"

/** Number of clients without a pace. Their pause behind each answer leaves processor time to start nodes. */
const CLIENTS = 2
const PAUSE_MS = 20
/** Number of clients that keep a pace, as long as each is answered in a third of a second at 50 requests a second. */
const PACED_CLIENTS = 16
/** A stopping node closes idle connections; a client then tries the next node. */
const TRIES = 50

interface Answered extends ServiceProcess.Answer {
  readonly tries: number
}

/** Clients behind a load balancer, sending from `hi@acme.test` one mail after the other, or at a pace. */
export const load = (
  nodes: () => ReadonlyArray<ServiceProcess.ServiceProcess>,
  key: string,
  perSecond = Number.POSITIVE_INFINITY,
) => {
  const answers: Array<Answered> = []
  let over = false
  let n = 0
  const send = async (nth: number): Promise<Answered> => {
    for (let tries = 1; ; tries++) {
      const serving = nodes()
      const node = serving[(nth + tries) % serving.length]
      if (node === undefined) throw new Error("no node is in service")
      try {
        const body = {
          from: "hi@acme.test",
          to: `user${nth}@example.org`,
          subject: `Receipt ${nth}`,
          text: "Thank you.",
        }
        const answer = await node.request("POST", "/v1/email/send", { key, body, idempotencyKey: `rolling-${nth}` })
        return { ...answer, tries }
      } catch (error) {
        if (tries === TRIES) throw error
      }
    }
  }
  const began = performance.now()
  const client = async () => {
    while (!over) {
      const nth = n++
      const wait = Number.isFinite(perSecond) ? began + (nth * 1000) / perSecond - performance.now() : PAUSE_MS
      if (wait > 0) await setTimeout(wait)
      if (!over) answers.push(await send(nth))
    }
  }
  const clients = Promise.all(Array.from({ length: Number.isFinite(perSecond) ? PACED_CLIENTS : CLIENTS }, client))
  return {
    answers,
    /** Waits until so many more requests were answered. */
    more: (mails: number) =>
      Effect.suspend(() => {
        const enough = answers.length + mails
        return World.until(
          Effect.sync(() => answers.length),
          (now) => now >= enough,
          Duration.seconds(60),
        )
      }),
    end: Effect.promise(async () => {
      over = true
      await clients
    }),
  }
}

/** Waits until the account's log has that many delivered emails. */
export const allDelivered = (account_id: Id.AccountId, count: number) =>
  World.until(
    EmailLogQuery.list({ account_id, status: ["delivered"], limit: count + 1 }),
    ({ data }) => data.length === count,
    Duration.seconds(60),
  )
