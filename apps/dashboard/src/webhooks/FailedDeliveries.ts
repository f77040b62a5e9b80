import * as Api from "../api/Api.ts"
import type { Delivery, Page } from "../api/Records.ts"
import type { Action } from "../ui/feedback/BulkSteps.ts"

const PAGE = 100
/** Deliveries that one replay repeats; what is beyond is repeated by the next. */
const MAX_REPLAYED = 1_000

/** Reads the deliveries that have failed, and returns the action that calls the endpoint again for each. */
export const replayOf = async (webhookId: string): Promise<Action> => {
  const failed: Array<Delivery> = []
  let after: string | undefined
  do {
    const query = { status: "failed", limit: PAGE, after }
    const page: Page<Delivery> = await Api.get(`/webhooks/${webhookId}/deliveries`, query)
    failed.push(...page.data)
    after = page.next_cursor ?? undefined
  } while (after !== undefined && failed.length < MAX_REPLAYED)
  const steps = failed.slice(0, MAX_REPLAYED).map(({ id }) => ({
    subject: id,
    run: () => Api.post(`/webhooks/${webhookId}/deliveries/${id}/replay`),
  }))
  const count = steps.length.toLocaleString("en")
  return {
    title: steps.length === 1 ? "Replay 1 failed delivery?" : `Replay ${count} failed deliveries?`,
    button: "Replay",
    isDestructive: false,
    text:
      steps.length === 0
        ? "No delivery of this webhook has failed."
        : `The endpoint is called again with the same events. Event ids stay the same, so duplicates can be ignored.${
            after === undefined && failed.length === steps.length
              ? ""
              : ` These are the newest ${count}; replay again for the others.`
          }`,
    steps,
    done: (done) => (done === 1 ? "1 delivery queued again." : `${done} deliveries queued again.`),
  }
}
