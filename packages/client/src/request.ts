import { isWellFormedKey } from "./apiKey.ts"
import { WaybillError } from "./WaybillError.ts"

export const DEFAULT_URL = "http://127.0.0.1:3025"
export const DEFAULT_RETRIES = 4
export const DEFAULT_TIMEOUT_MS = 30_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** Said by answers to writes where logs are read at replicas: what a reader must be shown who knows of the write. */
const POSITION = "x-waybill-position"

export interface Options {
  /** Where the service is, without `/v1`; else `WAYBILL_URL`, else a service on this machine. */
  readonly baseUrl?: string
  /** How often a 429, a 5xx or a lost connection is tried again. */
  readonly retries?: number
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
}

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>
  readonly body?: unknown
  /** Makes a retry safe: the same key never does the same thing twice. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** How long a service may be silent before it is given up. */
export interface Patience {
  /** It said something. */
  readonly renew: () => void
  readonly end: () => void
}

export interface Sender {
  /** One request with its retries. Only what cannot do harm twice is tried again: reads, and writes under a key. */
  readonly send: <A>(call: Call) => Promise<A>
  /** The same for an answer without an end, to be read while there is patience. */
  readonly open: (call: Call) => Promise<{ readonly response: Response; readonly patience: Patience }>
}

export const sender = (key: string, options: Options): Sender => {
  if (!isWellFormedKey(key)) {
    throw new WaybillError({ code: "invalid_key", message: "This is not a complete Waybill API key (wb_…)." })
  }
  const base = (options.baseUrl ?? environment("WAYBILL_URL") ?? DEFAULT_URL).replace(/\/+$/, "").replace(/\/v1$/, "")
  const retries = options.retries ?? DEFAULT_RETRIES
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const doFetch = options.fetch ?? fetch
  const writes = new Writes()

  const request = async <A>(call: Call, read: (response: Response, patience: Patience) => Promise<A>): Promise<A> => {
    const url = new URL(`${base}/v1${call.path}`)
    for (const [name, value] of Object.entries(call.query ?? {})) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined) url.searchParams.append(name, String(each))
      }
    }
    const isRead = call.method === "GET"
    const init = {
      method: call.method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json",
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
        ...(writes.known !== "" ? { [POSITION]: writes.known } : {}),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    }
    const safe = call.method !== "POST" || call.idempotencyKey !== undefined
    const begun = writes.begin()
    for (let tries = 0; ; tries++) {
      const { patience, signal } = patienceOf(timeoutMs + waitMs(call), call.signal)
      let failure: WaybillError
      try {
        const response = await doFetch(url, { ...init, signal })
        if (!isRead) writes.answered(begun, response.headers.get(POSITION))
        if (response.ok) return await read(response, patience)
        failure = await errorOf(response)
      } catch (cause) {
        if (call.signal?.aborted === true) throw cause
        failure = new WaybillError({
          code: "connection_failed",
          message: `${url.origin} gave no answer: ${cause instanceof Error ? cause.message : String(cause)}`,
          cause,
        })
      }
      patience.end()
      const isTriedAgain =
        tries < retries && (failure.status === 429 ? failure.reason !== "monthly_quota" : safe && isPassing(failure))
      if (!isTriedAgain) throw failure
      await pause(waitOf(failure, tries), call.signal)
    }
  }

  return {
    send: <A>(call: Call) =>
      request(call, async (response, patience) => {
        const answer = (await response.json()) as A
        patience.end()
        return answer
      }),
    open: (call) => request(call, (response, patience) => Promise.resolve({ response, patience })),
  }
}

/** What the service was asked to wait for something comes on top of the time that an answer may take. */
const waitMs = ({ query }: Call): number => (Number.parseInt(String(query?.["wait"]), 10) || 0) * 1000

const patienceOf = (ms: number, theirs: AbortSignal | undefined) => {
  const control = new AbortController()
  const giveUp = () => control.abort(new DOMException(`It said nothing for ${ms} ms.`, "TimeoutError"))
  let timer = setTimeout(giveUp, ms)
  const end = () => clearTimeout(timer)
  const renew = () => {
    end()
    timer = setTimeout(giveUp, ms)
  }
  return {
    patience: { renew, end } satisfies Patience,
    signal: theirs === undefined ? control.signal : AbortSignal.any([theirs, control.signal]),
  }
}

/** Places that are named at once; the service takes this many. */
const MAX_KNOWN = 16

/**
 * Where the last writes lie. Places cannot be compared, and answers may overtake each other. A write names the places that
 * were known when it began, and its own lies behind them; of writes that ran side by side all places are kept.
 */
class Writes {
  #answers = 0
  #places: ReadonlyArray<{ readonly answer: number; readonly place: string }> = []

  get known(): string {
    return this.#places.map(({ place }) => place).join(",")
  }

  begin(): number {
    return this.#answers
  }

  answered(begun: number, place: string | null): void {
    if (place === null) return
    this.#answers++
    const beside = this.#places.filter(({ answer }) => answer > begun)
    this.#places = [...beside, { answer: this.#answers, place }].slice(-MAX_KNOWN)
  }
}

const isPassing = ({ status }: WaybillError): boolean => status === 0 || status >= 500

/** The server's word, or twice as long each time. */
const waitOf = (failure: WaybillError, tries: number): number =>
  failure.retryAfter === null ? growing(tries) : failure.retryAfter * 1000

/** With jitter, so that clients which failed together part. */
const growing = (tries: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries) * (0.5 + Math.random() / 2)

/** A breath before what has just ended is begun anew. */
export const again = (tries: number, signal: AbortSignal | undefined): Promise<void> => pause(growing(tries), signal)

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
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

const errorOf = async (response: Response): Promise<WaybillError> => {
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN)
  const place = {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
  }
  const body = (await response.json().catch(() => undefined)) as
    | { readonly error?: ConstructorParameters<typeof WaybillError>[0] }
    | undefined
  return body?.error === undefined
    ? new WaybillError({ ...place, code: "bad_answer", message: `The service answered ${response.status}.` })
    : new WaybillError({ ...body.error, ...place })
}

const environment = (name: string): string | undefined =>
  typeof process === "undefined" ? undefined : process.env?.[name]
