/** A refusal in the API's own words. */
export class Refused extends Error {
  override readonly name = "Refused"
  readonly status: number
  readonly reason: string
  readonly requestId: string | null
  readonly details: ReadonlyArray<{ readonly path: string; readonly message: string }>
  readonly retryAfterSeconds: number | null
  constructor(fields: {
    readonly status: number
    readonly message: string
    readonly reason: string
    readonly requestId: string | null
    readonly details?: Refused["details"]
    readonly retryAfterSeconds?: number | null
  }) {
    super(fields.message)
    this.status = fields.status
    this.reason = fields.reason
    this.requestId = fields.requestId
    this.details = fields.details ?? []
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null
  }

  /** What is wrong with a field, worded to stand beneath it. */
  of(path: string): string | undefined {
    return this.details.find((detail) => detail.path === path || detail.path.startsWith(`${path}[`))?.message
  }
}

/** No other site can make a browser send it, so a cookie counts only beside it. */
export const OURS = { "x-waybill-dashboard": "1" }

const WORDS: Record<string, string> = {
  missing_scope: "Your role does not allow this. An owner of the account can change it under Settings, Members.",
}

interface ErrorBody {
  readonly error?: {
    readonly message: string
    readonly reason: string
    readonly request_id: string
    readonly details: Refused["details"]
  }
}

const listeners = new Set<() => void>()

/** Called when the session is over, wherever that was noticed. */
export const onSignedOut = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const refusalOf = async (response: Response): Promise<Refused> => {
  const body = (await response.json().catch(() => ({}))) as ErrorBody
  const retryAfter = response.headers.get("retry-after")
  const reason = body.error?.reason ?? "unreadable"
  return new Refused({
    status: response.status,
    message: WORDS[reason] ?? body.error?.message ?? `The server answered ${response.status} and gave no reason.`,
    reason,
    requestId: body.error?.request_id ?? response.headers.get("x-request-id"),
    details: body.error?.details ?? [],
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
  })
}

export interface Options {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string | number | ReadonlyArray<string> | undefined>>
  readonly signal?: AbortSignal
  /** Makes a POST safe to be sent again. */
  readonly once?: string
}

export const pathWith = (path: string, query: Options["query"] = {}): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each))
  }
  const text = search.toString()
  return text === "" ? path : `${path}?${text}`
}

export const unreachable = () =>
  new Refused({
    status: 0,
    message: "The server could not be reached. Is it running, and are you online?",
    reason: "unreachable",
    requestId: null,
  })

/** Calls /v1 as whoever is signed in. */
export const request = async <A>(method: string, path: string, options: Options = {}): Promise<A> => {
  const { body, once, query, signal } = options
  const response = await fetch(`/v1${pathWith(path, query)}`, {
    method,
    headers: {
      ...OURS,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(once === undefined ? {} : { "idempotency-key": once }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    throw error instanceof DOMException && error.name === "AbortError" ? error : unreachable()
  })
  if (response.ok) return (await response.json()) as A
  if (response.status === 401) for (const listener of listeners) listener()
  throw await refusalOf(response)
}

export const get = <A>(path: string, query?: Options["query"], signal?: AbortSignal): Promise<A> =>
  request<A>("GET", path, { ...(query === undefined ? {} : { query }), ...(signal === undefined ? {} : { signal }) })
/** Not `randomUUID`, which browsers keep to themselves where a page came by plain http. */
const unique = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")

export const post = <A>(path: string, body?: unknown): Promise<A> =>
  request<A>("POST", path, { once: unique(), ...(body === undefined ? {} : { body }) })
export const patch = <A>(path: string, body: unknown): Promise<A> => request<A>("PATCH", path, { body })
export const remove = <A>(path: string): Promise<A> => request<A>("DELETE", path)
