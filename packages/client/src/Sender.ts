import { encodeBody } from "./encodeBody.ts"
import { isWellFormedKey } from "./isWellFormedKey.ts"
import { WaybillError } from "./WaybillError.ts"

export const DEFAULT_URL = "http://127.0.0.1:3025"
export const DEFAULT_RETRIES = 4
export const DEFAULT_TIMEOUT_MS = 30_000
/** Limits that last for hours or days: a caller decides whether to wait so long. */
const LONG_LIMITS: ReadonlySet<string> = new Set(["monthly_quota", "suppression_changes"])
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/**
 * Header with the position of a write, in responses of a service with read replicas. Later requests send it back so
 * that reads include the write.
 */
const POSITION_HEADER = "x-waybill-position"

export interface Options {
  /** Address of the service without `/v1`. Defaults to `WAYBILL_URL`, then to a service on this machine. */
  readonly baseUrl?: string
  /** How often a request is retried after a 429, a 5xx or a lost connection. */
  readonly retries?: number
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
}

type QueryValue = string | number | boolean | Date | ReadonlyArray<string> | undefined

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, QueryValue>>
  readonly body?: unknown
  /** Makes a retry safe: the service runs requests with the same key once. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** Timeout of a response, which restarts with every chunk received. */
export interface IdleTimeout {
  /** Restarts the timeout. */
  readonly renew: () => void
  readonly end: () => void
}

export interface Sender {
  /** Sends a request with retries. Retries only what is safe to repeat: reads, and writes with an idempotency key. */
  readonly send: <A>(call: Call) => Promise<A>
  /** Opens an endless response, which the caller reads until the timeout. */
  readonly open: (call: Call) => Promise<{ readonly response: Response; readonly timeout: IdleTimeout }>
}

export const sender = (apiKey: string | undefined, options: Options): Sender => {
  const key = apiKey ?? environment("WAYBILL_KEY") ?? environment("WAYBILL_API_KEY")
  if (key === undefined) {
    throw new WaybillError({
      code: "invalid_key",
      message: "There is no API key. Set WAYBILL_KEY, or give the key to the client.",
    })
  }
  if (!isWellFormedKey(key)) {
    throw new WaybillError({ code: "invalid_key", message: "This is not a complete Waybill API key (wb_…)." })
  }
  const base = (options.baseUrl ?? environment("WAYBILL_URL") ?? DEFAULT_URL).replace(/\/+$/, "").replace(/\/v1$/, "")
  const retries = options.retries ?? DEFAULT_RETRIES
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const fetchImplementation = options.fetch ?? fetch
  const writes = new WritePositions()

  const request = async <A>(call: Call, read: (response: Response, timeout: IdleTimeout) => Promise<A>): Promise<A> => {
    const url = new URL(`${base}/v1${call.path}`)
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value === undefined) continue
      // Tags may have commas, which separate the items of all other lists.
      for (const each of name === "tag" ? [value].flat() : [value]) url.searchParams.append(name, queryText(name, each))
    }
    const isRead = call.method === "GET"
    const init = {
      method: call.method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json",
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
        ...(writes.header !== "" ? { [POSITION_HEADER]: writes.header } : {}),
      },
      ...(call.body === undefined ? {} : { body: encodeBody(call.body) }),
    }
    const isRepeatable = call.method !== "POST" || call.idempotencyKey !== undefined
    const begun = writes.begin()
    for (let tries = 0; ; tries++) {
      const { signal, timeout } = idleTimeout(timeoutMs + waitMs(call), call.signal)
      let failure: WaybillError
      try {
        const response = await fetchImplementation(url, { ...init, signal })
        if (!isRead) writes.add(begun, response.headers.get(POSITION_HEADER))
        if (response.ok) return await read(response, timeout)
        failure = await errorOf(response)
      } catch (cause) {
        if (call.signal?.aborted === true) throw cause
        failure = failureOf(cause, url)
      }
      timeout.end()
      const isRetried =
        tries < retries &&
        (failure.status === 429 ? !LONG_LIMITS.has(failure.reason ?? "") : isRepeatable && isTransient(failure))
      if (!isRetried) throw failure
      await pause(pauseMs(failure, tries), call.signal)
    }
  }

  return {
    send: <A>(call: Call) =>
      request(call, async (response, timeout) => {
        const body = (await response.json()) as A
        timeout.end()
        return body
      }),
    open: (call) => request(call, (response, timeout) => Promise.resolve({ response, timeout })),
  }
}

const queryText = (name: string, value: NonNullable<QueryValue>): string => {
  if (!(value instanceof Date)) return String(value)
  if (Number.isNaN(value.getTime())) throw WaybillError.invalid(name, "is an invalid Date")
  return value.toISOString()
}

/** The `wait` of a request, in milliseconds. It adds to the normal timeout. */
const waitMs = ({ query }: Call): number => (Number.parseInt(String(query?.["wait"]), 10) || 0) * 1000

const idleTimeout = (ms: number, callerSignal: AbortSignal | undefined) => {
  const control = new AbortController()
  const giveUp = () => control.abort(new DOMException(`No data for ${ms} ms.`, "TimeoutError"))
  let timer = setTimeout(giveUp, ms)
  const end = () => clearTimeout(timer)
  const renew = () => {
    end()
    timer = setTimeout(giveUp, ms)
  }
  return {
    timeout: { renew, end } satisfies IdleTimeout,
    signal: callerSignal === undefined ? control.signal : AbortSignal.any([callerSignal, control.signal]),
  }
}

/** Maximum number of positions in the header; the service accepts no more. */
const MAX_POSITIONS = 16

/**
 * Positions of the last writes. Positions cannot be compared, and responses may arrive out of order. A write replaces
 * the positions that it sent when it began; positions of concurrent writes are all kept.
 */
class WritePositions {
  #writes = 0
  #positions: ReadonlyArray<{ readonly write: number; readonly position: string }> = []

  get header(): string {
    return this.#positions.map(({ position }) => position).join(",")
  }

  begin(): number {
    return this.#writes
  }

  add(begun: number, position: string | null): void {
    if (position === null) return
    this.#writes++
    const concurrent = this.#positions.filter(({ write }) => write > begun)
    this.#positions = [...concurrent, { write: this.#writes, position }].slice(-MAX_POSITIONS)
  }
}

const isTransient = ({ status }: WaybillError): boolean => status === 0 || status >= 500

/** Returns the pause in `Retry-After`, or an exponentially growing one. */
const pauseMs = (failure: WaybillError, tries: number): number =>
  failure.retryAfter === null ? backoffMs(tries) : failure.retryAfter * 1000

/** Adds jitter, so that clients which failed together do not retry together. */
const backoffMs = (tries: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries) * (0.5 + Math.random() / 2)

/** Pauses before a reconnect. */
export const reconnectPause = (tries: number, signal: AbortSignal | undefined): Promise<void> =>
  pause(backoffMs(tries), signal)

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, ms)
    signal?.addEventListener("abort", stop, { once: true })
  })

/** Returns the reason why there was no response, which Node hides in the cause of "fetch failed". */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const { code, message } = (cause.cause ?? {}) as { readonly code?: string; readonly message?: string }
  return message || code || cause.message
}

/** Returns the error of a request without a complete response, or of a success that is not JSON. */
const failureOf = (cause: unknown, { origin }: URL): WaybillError =>
  cause instanceof SyntaxError
    ? new WaybillError({ code: "bad_answer", status: 200, message: `${origin} is not a Waybill API: no JSON.`, cause })
    : new WaybillError({
        code: "connection_failed",
        message: `no response from ${origin}: ${reasonOf(cause)}`,
        cause,
      })

const errorOf = async (response: Response): Promise<WaybillError> => {
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN)
  const metadata = {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
  }
  const body = (await response.json().catch(() => undefined)) as ErrorBody | null | undefined
  // A proxy may answer with JSON of its own, such as `{"error": "Bad gateway"}`.
  return typeof body?.error?.code !== "string"
    ? new WaybillError({
        ...metadata,
        code: "bad_answer",
        message: `The service answered with HTTP ${response.status}.`,
      })
    : new WaybillError({ ...body.error, ...metadata, requestId: metadata.requestId ?? body.error.request_id ?? null })
}

interface ErrorBody {
  readonly error?: ConstructorParameters<typeof WaybillError>[0] & { readonly request_id?: string }
}

/** Returns a variable of the environment; an empty one counts as absent. */
const environment = (name: string): string | undefined =>
  (typeof process === "undefined" ? undefined : process.env?.[name]) || undefined
