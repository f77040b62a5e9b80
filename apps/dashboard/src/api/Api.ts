import { ApiError } from "./ApiError.ts"
import * as Connection from "./Connection.ts"
import * as Mode from "./Mode.ts"
import * as Paths from "./Paths.ts"

/** Sites cannot make a browser send this header to another, so the server accepts a session cookie only together with it. */
export const DASHBOARD_HEADERS = { "x-waybill-dashboard": "1" }

const signedOutListeners = new Set<() => void>()

/** Calls `listener` whenever a response says that the session has ended. Returns a function that stops this. */
export const onSignedOut = (listener: () => void): (() => void) => {
  signedOutListeners.add(listener)
  return () => signedOutListeners.delete(listener)
}

interface Options {
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
}

/** Time after which a read that was not answered is given up, as on a connection that was lost without a word. */
const ANSWER_MS = 30_000

/** Calls this server with the session of the signed-in user. */
export const call = async <A>(method: string, url: string, options: Options = {}): Promise<A> => {
  const { body, idempotencyKey, signal } = options
  const lost = new AbortController()
  // A change may take longer, and is not sent again by itself.
  const timer = method === "GET" ? setTimeout(() => lost.abort(ApiError.unreachable()), ANSWER_MS) : undefined
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...DASHBOARD_HEADERS,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any(signal === undefined ? [lost.signal] : [lost.signal, signal]),
    }).catch((error: unknown) => {
      if (error instanceof DOMException && error.name === "AbortError") throw error
      Connection.report(false)
      throw ApiError.unreachable()
    })
    Connection.report(true)
    if (response.ok) return (await response.json()) as A
    throw await ApiError.fromResponse(response)
  } finally {
    clearTimeout(timer)
  }
}

/** Calls /v1, and tells the listeners if the session has ended. */
const request = <A>(
  method: string,
  path: string,
  { query, ...options }: Options & { readonly query?: Paths.Query } = {},
) =>
  call<A>(method, `/v1${Mode.withMode(Paths.pathWith(path, query))}`, options).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) for (const listener of signedOutListeners) listener()
    throw error
  })

/** `crypto.randomUUID` exists only on https and localhost; this also works on plain http. */
const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")

const wait = (seconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1_000)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(new DOMException("canceled", "AbortError"))
    })
  })

/** Sends a request, and again after the pause that the rate limit asks for. */
export const patiently = async <A>(
  send: () => Promise<A>,
  signal: AbortSignal,
  onWait: (seconds: number) => void,
): Promise<A> => {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await send()
    } catch (error) {
      const seconds = error instanceof ApiError ? error.pauseSeconds : undefined
      if (seconds === undefined) throw error
      onWait(seconds)
      await wait(seconds, signal)
    }
  }
}

export const get = <A>(path: string, query?: Paths.Query, signal?: AbortSignal): Promise<A> =>
  request<A>("GET", path, { ...(query === undefined ? {} : { query }), ...(signal === undefined ? {} : { signal }) })
export const post = <A>(path: string, body?: unknown): Promise<A> =>
  request<A>("POST", path, { idempotencyKey: newIdempotencyKey(), ...(body === undefined ? {} : { body }) })
export const patch = <A>(path: string, body: unknown): Promise<A> => request<A>("PATCH", path, { body })
export const remove = <A>(path: string): Promise<A> => request<A>("DELETE", path)
