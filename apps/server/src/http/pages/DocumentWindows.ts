import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as RateWindows from "@waybill/store/admission/RateWindows"

/**
 * Requests for documents per minute and address (an IPv6 /64 counts as one). One page of the dashboard takes about
 * forty.
 */
export const DOCUMENTS_PER_MINUTE = 1_200
/**
 * Bytes of documents per minute and address: the dashboard's files a hundred times. Bytes that a client does not
 * read stay in kernel buffers, up to 4 MB per connection, which this process can neither see nor limit.
 */
export const DOCUMENT_BYTES_PER_MINUTE = 64 * 1024 * 1024
/** Bytes of documents per minute for all addresses together. */
export const ALL_DOCUMENT_BYTES_PER_MINUTE = 512 * 1024 * 1024
/**
 * Bytes per minute that every address is sent even when others have nearly used up the total: the dashboard's files ten times.
 */
export const FIRST_DOCUMENT_BYTES = 8 * 1024 * 1024
/** Share of the total that is reserved for addresses below `FIRST_DOCUMENT_BYTES`. */
const SHARE_OF_FIRST = 1 / 4
/** Searches of the documentation per minute and address: one takes about as long as fifty pages. */
export const SEARCHES_PER_MINUTE = 240
/** Searches of the documentation per minute for all addresses together, which take a third of the processor at most. */
export const ALL_SEARCHES_PER_MINUTE = 1_200
const SEARCHES: ReadonlySet<string> = new Set(["/docs/search", "/docs/search.json"])
/** Addresses counted separately within a minute; further ones share one counter. */
export const MAX_ADDRESSES = 20_000
const OTHERS = ""

export interface Limits {
  readonly requests: number
  readonly bytes: number
  readonly allBytes: number
  readonly firstBytes: number
  readonly searches: number
  readonly allSearches: number
}

export const LIMITS: Limits = {
  requests: DOCUMENTS_PER_MINUTE,
  bytes: DOCUMENT_BYTES_PER_MINUTE,
  allBytes: ALL_DOCUMENT_BYTES_PER_MINUTE,
  firstBytes: FIRST_DOCUMENT_BYTES,
  searches: SEARCHES_PER_MINUTE,
  allSearches: ALL_SEARCHES_PER_MINUTE,
}

type Refusal = RateLimit.RequestRateExceeded

export interface DocumentWindows {
  /** Counts a request and returns the state of its address's window. Searches have one of their own. */
  readonly count: (
    address: string,
    now_ms: number,
    path: string,
  ) => { readonly standing: RateLimit.WindowState; readonly refusal: Refusal | undefined }
  /** Counts the bytes of a response, or refuses it. */
  readonly charge: (address: string, now_ms: number, bytes: number) => Refusal | undefined
}

interface Used {
  requests: number
  searches: number
  bytes: number
}

/**
 * Rate windows for public documents: the documentation and the dashboard's files. Counted in memory per process,
 * because a query would cost more than the response.
 */
export const make = (limits: Limits = LIMITS): DocumentWindows => {
  const windows = new Map<string, Used>()
  let window_ms = 0
  let allBytes = 0
  let allSearches = 0
  const usedBy = (address: string, now_ms: number): Used => {
    const start = RateLimit.windowStart(now_ms)
    if (start !== window_ms) {
      windows.clear()
      allBytes = 0
      allSearches = 0
    }
    window_ms = start
    const { bucket } = RateWindows.clientAddress(address)
    const name = windows.has(bucket) || windows.size < MAX_ADDRESSES ? bucket : OTHERS
    const used = windows.get(name) ?? { requests: 0, searches: 0, bytes: 0 }
    windows.set(name, used)
    return used
  }
  const refuse = (now_ms: number, limit = limits.requests): Refusal =>
    new RateLimit.RequestRateExceeded({
      bucket: "other",
      limit,
      retry_after_s: RateLimit.retryAfterSeconds(now_ms),
    })
  return {
    count: (address, now_ms, path) => {
      const used = usedBy(address, now_ms)
      const isSearch = SEARCHES.has(path)
      const limit = isSearch ? limits.searches : limits.requests
      const count = isSearch ? ++used.searches : ++used.requests
      const isOver = count > limit || (isSearch && ++allSearches > limits.allSearches)
      const standing = RateLimit.windowState(limit, count, now_ms)
      return { standing, refusal: isOver ? refuse(now_ms, limit) : undefined }
    },
    charge: (address, now_ms, bytes) => {
      const used = usedBy(address, now_ms)
      const isFirst = used.bytes + bytes <= limits.firstBytes
      const all = isFirst ? limits.allBytes : limits.allBytes * (1 - SHARE_OF_FIRST)
      if (used.bytes + bytes > limits.bytes || allBytes + bytes > all) return refuse(now_ms)
      used.bytes += bytes
      allBytes += bytes
      return undefined
    },
  }
}
