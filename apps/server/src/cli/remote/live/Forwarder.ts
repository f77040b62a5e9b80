import { Clock, Data, Duration, Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as WebhookSignature from "../../../worker/webhooks/WebhookSignature.ts"

/** Time within which the program must answer: that of a webhook call. */
const CALL_TIMEOUT = Duration.seconds(15)
/** Bytes of a signing secret, as many as those of webhooks have. */
const SECRET_BYTES = 24
/** Most characters of an answer that are shown. */
const SHOWN_CHARS = 200

/** Makes a signing secret of the form `whsec_…`. */
export const makeSecret = Effect.sync(
  () => `${WebhookSignature.SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`,
)

/** A call and its answer. */
export interface Call {
  readonly url: string
  readonly status: number | null
  readonly duration_ms: number
  /** The beginning of an answer that is no success, or why there is none. */
  readonly problem: string | null
}

class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

/** Calls a URL as a webhook is called, with the same headers and signature. Follows no redirect. */
export const forward = Effect.fnUntraced(function* (url: string, id: string, payload: object, secret: string) {
  const body = JSON.stringify(payload)
  const began = yield* Clock.currentTimeMillis
  const headers = WebhookSignature.headersOf(
    { id, body, secrets: [secret], svixHeaders: false },
    Math.floor(began / 1000),
  )
  const answer = Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal })
      const text = await beginningOf(response)
      return { status: response.status, problem: response.ok ? null : text.trim().slice(0, SHOWN_CHARS) }
    },
    catch: (cause) => new NoAnswer({ message: reasonOf(cause) }),
  }).pipe(
    Effect.timeoutOrElse({
      duration: CALL_TIMEOUT,
      orElse: () => new NoAnswer({ message: `no answer within ${Duration.toSeconds(CALL_TIMEOUT)} s` }),
    }),
    Effect.catch(({ message }) => Effect.succeed({ status: null, problem: message })),
  )
  const { problem, status } = yield* answer
  return { url, status, duration_ms: (yield* Clock.currentTimeMillis) - began, problem } satisfies Call
})

/** Reads only as much of an answer that is no success as is shown; the rest may be of any size. */
const beginningOf = async ({ body, ok }: Response): Promise<string> => {
  let text = ""
  if (ok) await body?.cancel().catch(() => undefined)
  else if (body !== null)
    for await (const piece of body.pipeThrough(new TextDecoderStream()))
      if ((text += piece).trimStart().length >= SHOWN_CHARS) break
  return text
}

/** The reason that Node hides in the cause of "fetch failed". */
const reasonOf = (cause: unknown): string => {
  const error = cause as Error & { readonly cause?: { readonly code?: string; readonly message?: string } }
  return error.cause?.code ?? error.cause?.message ?? error.message
}
