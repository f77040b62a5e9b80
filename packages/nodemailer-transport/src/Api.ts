import { isData, listOf } from "./Data.ts"
import { type Code, fromProblems, type FieldProblem, TransportError } from "./TransportError.ts"

export interface Connection {
  readonly url: string
  readonly key: string
  readonly timeoutMs: number
  readonly retries: number
  readonly fetch: typeof fetch
}

export interface Request {
  readonly body: object
  readonly idempotencyKey: string
  readonly signal?: AbortSignal | undefined
  readonly recipients?: ReadonlyArray<string>
  /** Fields by the places in the body to which they were translated. */
  readonly fields?: ReadonlyMap<string, string>
}

export interface Answer {
  readonly id: string
  readonly isReplayed: boolean
}

const FIRST_PAUSE_MS = 250
/** A longer pause is left to the caller, who may have a queue. */
const LONGEST_PAUSE_MS = 5_000

/** Sends a message. A lost answer is requested again under the same idempotency key, so nothing is sent twice. */
export const send = async (connection: Connection, request: Request): Promise<Answer> => {
  for (let tries = 0; ; tries++) {
    const response = await post(connection, request).catch((error: unknown) =>
      connectionError(connection, request, error),
    )
    if (response instanceof Response && response.ok) {
      const answer: unknown = await response.json().catch(() => undefined)
      if (isData(answer) && typeof answer["id"] === "string")
        return { id: answer["id"], isReplayed: response.headers.get("idempotent-replayed") === "true" }
    }
    const error = response instanceof Response ? await refusal(response, request) : response
    const isTransient =
      error.code !== "EABORT" && (error.status === undefined || error.status < 300 || error.status >= 500)
    const pause = response instanceof Response ? Number(response.headers.get("retry-after") ?? 0) * 1_000 : 0
    if (!isTransient || tries >= connection.retries || pause > LONGEST_PAUSE_MS) throw error
    await new Promise((resolve) => setTimeout(resolve, Math.max(pause, FIRST_PAUSE_MS * 2 ** tries)))
    if (request.signal?.aborted === true) throw connectionError(connection, request, undefined)
  }
}

/** Sends a request that the API refuses after it has checked the key and its scope. */
export const verify = async (connection: Connection): Promise<void> => {
  const request = { body: {}, idempotencyKey: "" }
  const response = await post(connection, request).catch((error: unknown) =>
    connectionError(connection, request, error),
  )
  if (response instanceof TransportError) throw response
  const error = await refusal(response, request)
  if (error.reason !== "validation_failed") throw error
}

const post = (connection: Connection, { body, idempotencyKey, signal }: Request): Promise<Response> => {
  const timeout = AbortSignal.timeout(connection.timeoutMs)
  return connection.fetch(`${connection.url}/v1/email/send`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${connection.key}`,
      accept: "application/json",
      "content-type": "application/json",
      ...(idempotencyKey === "" ? {} : { "idempotency-key": idempotencyKey }),
    },
    body: JSON.stringify(body),
    redirect: "error",
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  })
}

const connectionError = ({ timeoutMs, url }: Connection, { signal }: Request, cause: unknown): TransportError => {
  if (signal?.aborted === true)
    return new TransportError("Message sending aborted.", { code: "EABORT", cause: signal.reason })
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const systemCode = isData(reason) && typeof reason["code"] === "string" ? reason["code"] : ""
  if ((cause instanceof Error && cause.name === "TimeoutError") || /TIMEOUT|TIMEDOUT/.test(systemCode))
    return new TransportError(`${url} did not answer within ${timeoutMs} ms.`, { code: "ETIMEDOUT", cause })
  const code: Code = systemCode === "ENOTFOUND" || systemCode === "EAI_AGAIN" ? "EDNS" : "ECONNECTION"
  const text = reason instanceof Error && reason.message !== "" ? reason.message : systemCode || "the request failed"
  return new TransportError(`No answer from ${url}: ${text}.`, { code, cause })
}

/** Replies of Waybill's SMTP port to the same refusals; by HTTP status for all others. */
const REPLY_BY_REASON: Readonly<Record<string, number>> = {
  payload_too_large: 552,
  request_rate: 450,
  monthly_quota: 452,
  scheduled_size_exceeded: 452,
  domain_not_verified: 550,
  header_not_allowed: 550,
  all_recipients_suppressed: 550,
}
const REPLY_BY_STATUS: Readonly<Record<number, number>> = { 401: 535, 403: 550, 408: 451, 429: 450 }

const codeOf = (status: number, reason: string): Code => {
  if (/^(?:domain_not_verified|domain_not_allowed|recipient_limit_exceeded|all_recipients_suppressed)$/.test(reason))
    return "EENVELOPE"
  return status === 401 || status === 403 ? "EAUTH" : "EMESSAGE"
}

const refusal = async (response: Response, request: Request): Promise<TransportError> => {
  const body: unknown = await response.json().catch(() => undefined)
  const error = isData(body) && isData(body["error"]) ? body["error"] : {}
  const { status } = response
  const reason = typeof error["reason"] === "string" ? error["reason"] : undefined
  const problems = listOf(error["details"]).flatMap((detail) => (isData(detail) ? [problemOf(detail, request)] : []))
  const answer = {
    status,
    responseCode: REPLY_BY_REASON[reason ?? ""] ?? REPLY_BY_STATUS[status] ?? (status >= 500 ? 451 : 554),
    ...(reason === undefined ? {} : { reason }),
    ...(typeof error["request_id"] === "string" ? { requestId: error["request_id"] } : {}),
    ...(reason === "all_recipients_suppressed" ? { rejected: request.recipients ?? [] } : {}),
  }
  if (status === 400 && problems.length > 0) return fromProblems(problems, answer)
  const message = typeof error["message"] === "string" ? error["message"] : `The server answered with HTTP ${status}.`
  return new TransportError(message, { code: codeOf(status, reason ?? ""), ...answer, problems })
}

/** Fields of the API whose names differ from nodemailer's. */
const NAMES: ReadonlyArray<readonly [api: RegExp, own: string]> = [
  [/^reply_to\b/, "replyTo"],
  [/^scheduled_at\b/, "scheduledAt"],
  [/^list_unsubscribe\b/, "listUnsubscribe"],
  [/^reply_tracking\b/, "replyTracking"],
  [/^Idempotency-Key\b/i, "idempotencyKey"],
  [/\.content_type$/, ".contentType"],
  [/\.content_id$/, ".cid"],
]

const problemOf = (detail: Readonly<Record<string, unknown>>, { fields }: Request): FieldProblem => {
  const path = typeof detail["path"] === "string" ? detail["path"] : ""
  const renamed = [...(fields ?? [])].find(([place]) => path === place || path.startsWith(`${place}.`))
  const ownPath = renamed === undefined ? path : renamed[1] + path.slice(renamed[0].length)
  return {
    path: NAMES.reduce((text, [api, own]) => text.replace(api, own), ownPath),
    message: typeof detail["message"] === "string" ? detail["message"].replace(/\.$/, "") : "is not valid",
  }
}
