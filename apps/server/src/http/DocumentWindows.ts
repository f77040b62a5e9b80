import * as RateLimit from "@waybill/domain/RateLimit"
import * as RateWindows from "@waybill/store/RateWindows"

/** Requests a minute of one address, an IPv6 /64 being one, for documents: a page of the dashboard takes some forty. */
export const DOCUMENTS_PER_MINUTE = 1_200
/** Addresses told apart within a minute; beyond it they are counted together. */
export const MAX_ADDRESSES = 20_000
const EVERYBODY_ELSE = ""

export interface DocumentWindows {
  /** Counts a request, and says where the window of its address stands. */
  readonly count: (
    address: string,
    now_ms: number,
  ) => { readonly standing: RateLimit.Standing; readonly refusal: RateLimit.RequestRateExceeded | undefined }
}

/**
 * Windows for what is served to anybody and is the same for everybody: the documentation and the dashboard's files. They
 * are counted in memory, by each process for itself: to ask the database would cost more than the answer.
 */
export const make = (limit = DOCUMENTS_PER_MINUTE): DocumentWindows => {
  const counts = new Map<string, number>()
  let window_ms = 0
  return {
    count: (address, now_ms) => {
      const start = RateLimit.windowStart(now_ms)
      if (start !== window_ms) counts.clear()
      window_ms = start
      const { bucket } = RateWindows.clientAddress(address)
      const name = counts.has(bucket) || counts.size < MAX_ADDRESSES ? bucket : EVERYBODY_ELSE
      const used = (counts.get(name) ?? 0) + 1
      counts.set(name, used)
      const refusal =
        used <= limit
          ? undefined
          : new RateLimit.RequestRateExceeded({
              bucket: "other",
              limit,
              retry_after_s: RateLimit.retryAfterSeconds(now_ms),
            })
      return { standing: RateLimit.standing(limit, used, now_ms), refusal }
    },
  }
}
