import * as Api from "../api/Api.ts"
import type { Delivery, Page } from "../api/Records.ts"
import type { Action } from "../ui/feedback/BulkSteps.ts"

/** Deliveries that the endpoint has not accepted: those given up, and those that are tried again by themselves. */
export type Kind = "failed" | "retrying"

const PAGE = 100
/** Deliveries that one action repeats; what is beyond is repeated by the next. */
const MAX_REPEATED = 1_000

interface Found {
  readonly rows: ReadonlyArray<Delivery>
  readonly hasMore: boolean
}

/** Reads the newest deliveries of a kind, at most as many as one action repeats. */
export const find = async (webhookId: string, kind: Kind, signal?: AbortSignal): Promise<Found> => {
  const rows: Array<Delivery> = []
  let after: string | undefined
  do {
    const status = kind === "failed" ? { status: kind } : { status: "pending", called: "true" }
    const query = { ...status, limit: PAGE, after }
    const page: Page<Delivery> = await Api.get(`/webhooks/${webhookId}/deliveries`, query, signal)
    rows.push(...page.data)
    after = page.next_cursor ?? undefined
  } while (after !== undefined && rows.length < MAX_REPEATED)
  return { rows: rows.slice(0, MAX_REPEATED), hasMore: after !== undefined || rows.length > MAX_REPEATED }
}

const WORDS = {
  failed: { one: "Replay 1 failed delivery", many: (n: string) => `Replay ${n} failed deliveries` },
  retrying: { one: "Retry 1 delivery now", many: (n: string) => `Retry ${n} deliveries now` },
} as const

/** Writes how many there are: "3", or "1,000+" if there are more. */
export const countOf = ({ hasMore, rows }: Found): string => `${rows.length.toLocaleString("en")}${hasMore ? "+" : ""}`

/** Returns the action that calls the endpoint again for each delivery of a kind. */
export const repeat = (webhookId: string, kind: Kind, { hasMore, rows }: Found): Action => {
  const count = rows.length.toLocaleString("en")
  const { many, one } = WORDS[kind]
  return {
    name: rows.length === 1 ? one : many(count),
    isDestructive: false,
    text: `The endpoint is called again with the same events. Event ids stay the same, so duplicates can be ignored.${
      hasMore ? ` These are the newest ${count}; repeat it for the others.` : ""
    }`,
    steps: rows.map(({ id }) => ({
      subject: id,
      run: () => Api.post(`/webhooks/${webhookId}/deliveries/${id}/replay`),
    })),
    done: (done) => (done === 1 ? "1 delivery queued again." : `${done} deliveries queued again.`),
  }
}
