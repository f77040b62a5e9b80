import * as Api from "../api/Api.ts"
import type { Delivery } from "../api/Records.ts"

const POLL_MS = 500
/** A call takes at most 15 s, and begins within a few. */
const MAX_POLLS = 40

/** Sends a test event, and returns its delivery once the endpoint was called; or as it is, if that takes too long. */
export const sendTestEvent = async (webhookId: string): Promise<Delivery> => {
  let delivery = await Api.post<Delivery>(`/webhooks/${webhookId}/test`)
  for (let polls = 0; delivery.attempts === 0 && delivery.status === "pending" && polls < MAX_POLLS; polls++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    delivery = await Api.get<Delivery>(`/webhooks/${webhookId}/deliveries/${delivery.id}`)
  }
  return delivery
}
