/** Filters of the request log, as stored in the URL. */
export interface RequestFilters {
  readonly status?: string
  readonly method?: string
  /** A path, or how paths begin. */
  readonly path?: string
  readonly api_key_id?: string
  /** A recipient of refused requests. */
  readonly recipient?: string
}

const REQUEST_ID = /^req_[0-9a-z]{26}$/u

/** Returns a typed path as the API knows it, so that the beginning need not be typed: `email/send` is `/v1/email/send`. */
export const pathOf = (typed: string): string => {
  const path = typed.startsWith("/") ? typed : `/${typed}`
  return /^\/(?:v1?|compat)?(?:\/|$)/u.test(path) ? path : `/v1${path}`
}

const ADDRESS = /^[^@\s]+@[^@\s]+\.[^@\s.]+$/u

/** Filters of a typed text: a recipient, or a path. */
export const typedFilters = (text: string): Pick<RequestFilters, "path" | "recipient"> =>
  ADDRESS.test(text) ? { recipient: text } : { path: text }

/** Whether a searched text is the id of a request. */
export const isRequestId = (text: string): boolean => REQUEST_ID.test(text)
