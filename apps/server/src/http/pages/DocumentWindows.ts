import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as RateWindows from "@waybill/store/admission/RateWindows"

/** Requests a minute of one address, an IPv6 /64 being one, for documents: a page of the dashboard takes some forty. */
export const DOCUMENTS_PER_MINUTE = 1_200
/**
 * Bytes of documents a minute that one address is sent: the documentation eighty times, compressed. What a client does not
 * read lies in the memory of the kernel, up to 4 MB for each connection, where this process neither sees nor bounds it.
 */
export const DOCUMENT_BYTES_PER_MINUTE = 64 * 1024 * 1024
/** The same for all addresses together. */
export const ALL_DOCUMENT_BYTES_PER_MINUTE = 512 * 1024 * 1024
/** Bytes a minute that an address is sent even when others have used up most of what all may have: the documentation twice. */
export const FIRST_DOCUMENT_BYTES = 8 * 1024 * 1024
/** Share of what all may have that is left to addresses which were sent less than that. */
const SHARE_OF_FIRST = 1 / 4
/** Addresses told apart within a minute; beyond it they are counted together. */
export const MAX_ADDRESSES = 20_000
const EVERYBODY_ELSE = ""

export interface Limits {
  readonly requests: number
  readonly bytes: number
  readonly allBytes: number
  readonly firstBytes: number
}

export const LIMITS: Limits = {
  requests: DOCUMENTS_PER_MINUTE,
  bytes: DOCUMENT_BYTES_PER_MINUTE,
  allBytes: ALL_DOCUMENT_BYTES_PER_MINUTE,
  firstBytes: FIRST_DOCUMENT_BYTES,
}

type Refusal = RateLimit.RequestRateExceeded

export interface DocumentWindows {
  /** Counts a request, and says where the window of its address stands. */
  readonly count: (
    address: string,
    now_ms: number,
  ) => { readonly standing: RateLimit.Standing; readonly refusal: Refusal | undefined }
  /** Counts the bytes of an answer, or refuses it. */
  readonly charge: (address: string, now_ms: number, bytes: number) => Refusal | undefined
}

interface Used {
  requests: number
  bytes: number
}

/**
 * Windows for what is served to anybody and is the same for everybody: the documentation and the dashboard's files. They
 * are counted in memory, by each process for itself: to ask the database would cost more than the answer.
 */
export const make = (limits: Limits = LIMITS): DocumentWindows => {
  const windows = new Map<string, Used>()
  let window_ms = 0
  let allBytes = 0
  const usedBy = (address: string, now_ms: number): Used => {
    const start = RateLimit.windowStart(now_ms)
    if (start !== window_ms) {
      windows.clear()
      allBytes = 0
    }
    window_ms = start
    const { bucket } = RateWindows.clientAddress(address)
    const name = windows.has(bucket) || windows.size < MAX_ADDRESSES ? bucket : EVERYBODY_ELSE
    const used = windows.get(name) ?? { requests: 0, bytes: 0 }
    windows.set(name, used)
    return used
  }
  const refuse = (now_ms: number): Refusal =>
    new RateLimit.RequestRateExceeded({
      bucket: "other",
      limit: limits.requests,
      retry_after_s: RateLimit.retryAfterSeconds(now_ms),
    })
  return {
    count: (address, now_ms) => {
      const used = usedBy(address, now_ms)
      used.requests++
      const standing = RateLimit.standing(limits.requests, used.requests, now_ms)
      return { standing, refusal: used.requests > limits.requests ? refuse(now_ms) : undefined }
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
