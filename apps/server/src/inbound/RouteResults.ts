import type { Applied } from "@waybill/domain/inbound/InboundState"
import type { AccountId } from "@waybill/domain/values/Id"
import type { InboundRecord } from "@waybill/store/readmodels/Inbound"
import * as ReceivedCalls from "@waybill/store/webhooks/ReceivedCalls"
import { Effect } from "effect"

/** Results of routes, which the events do not say; no calls are known of mail that was recorded just now. */
export interface Results {
  readonly calls: ReadonlyArray<ReceivedCalls.ReceivedCall> | undefined
}

export const UNKNOWN: Results = { calls: undefined }

/** Reads the results of the routes of mails. */
export const of = Effect.fn("RouteResults.of")(function* (account_id: AccountId, mails: ReadonlyArray<InboundRecord>) {
  const called = mails.filter(({ routes }) => routes.some(({ action }) => action === "webhook"))
  const ids = called.map(({ inbound_id }) => inbound_id)
  return { calls: ids.length === 0 ? [] : yield* ReceivedCalls.list(account_id, ids) } satisfies Results
})

/** A route as a record shows it. */
export const shown =
  (inbound_id: string, results: Results) =>
  ({ action, route_id, webhook_id }: Applied) => ({
    id: route_id,
    action,
    result: action === "webhook" ? resultOfCalls(callsOf(results, inbound_id, webhook_id)) : DONE[action],
  })

const DONE = { reject: "rejected", drop: "dropped", store: "stored" } as const

const callsOf = ({ calls }: Results, inbound_id: string, webhook_id: string | undefined) =>
  calls?.filter(
    (call) => call.inbound_id === inbound_id && (webhook_id === undefined || call.webhook_id === webhook_id),
  )

/** The worst state of the calls; `none` if there is no webhook to call. */
const resultOfCalls = (calls: ReadonlyArray<ReceivedCalls.ReceivedCall> | undefined) =>
  calls === undefined
    ? "pending"
    : ((["failed", "pending", "delivered"] as const).find((state) => calls.some(({ status }) => status === state)) ??
      "none")
