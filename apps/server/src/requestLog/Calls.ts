import * as Livemode from "@waybill/domain/account/Livemode"
import type * as Id from "@waybill/domain/values/Id"
import type { AdmittedKey } from "@waybill/store/admission/AdmittedKey"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import type { Writer } from "@waybill/store/requests/RequestLogWriter"
import type { Row } from "@waybill/store/requests/RequestRow"
import type { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as RequestTarget from "../requests/RequestTarget.ts"
import { MAX_LOGGED_ANSWER_BYTES, maskedBody } from "./maskedBody.ts"
import { maskedQuery } from "./maskedQuery.ts"
import { maskedPath } from "./maskedPath.ts"
import { recipientsOf } from "./recipientsOf.ts"
import * as ShownFields from "./ShownFields.ts"

/** Maximum length of a method. Node accepts only known ones. */
const MAX_METHOD_CHARS = 16

/** The account, key or person that made a call. */
export type Caller = Pick<Row, "account_id" | "api_key_id" | "user_id" | "livemode">

export const callerOf = ({ account_id, id }: AdmittedKey): Caller => ({
  account_id,
  api_key_id: id,
  user_id: null,
  livemode: Livemode.isLive(account_id),
})

/** A member who works in the dashboard, with live or with test mail. */
export const memberOf = (account_id: Id.AccountId, user_id: string, livemode: boolean): Caller => ({
  account_id: livemode ? account_id : Livemode.testAccountOf(account_id),
  api_key_id: null,
  user_id,
  livemode,
})

/** A call that is being answered, and what is known of it by its end. */
export interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The canonical target, which was routed. */
  readonly target: string
  readonly id: string
  readonly caller: Caller
  readonly address: string
  /** Time of its beginning on the clock of `performance`. */
  readonly began: number
  body: Uint8Array | undefined
  reason: string | null
  answer: Uint8Array | undefined
}

/** A request carries its call: a map of all of them would be work for each garbage collection. */
const CALL = Symbol("@waybill/server/requestLog/Calls/call")
interface Carrier {
  [CALL]?: Call
}

/** Begins to log a call, which ends when its answer has been sent or the client has left. */
export const begin = (writer: Writer, call: Call): void => {
  ;(call.request as Carrier)[CALL] = call
  call.response.on("close", () => end(writer, call))
}

/** Logs a call at its end. Its row is made only if it has a place in the log. */
export const end = (writer: Writer, call: Call): void => {
  const { headersSent, statusCode } = call.response
  writer.note(call.caller, () => rowOf(call), headersSent && statusCode < 400)
}

/** Notes the body of a call that was begun. */
export const noteBody = (source: object, body: Uint8Array): void => {
  const call = (source as Carrier)[CALL]
  if (call !== undefined) call.body = body
}

/** Notes the answer of a call that was begun and, in the shape of Waybill's own errors, the reason of a refusal. */
export const noteAnswer = (source: object, response: HttpServerResponse.HttpServerResponse): void => {
  const call = (source as Carrier)[CALL]
  const isRefused = response.status >= 400
  // An answer to a read would keep the records a second time.
  if (call === undefined || (!isRefused && call.request.method === "GET")) return
  if (response.body._tag === "Uint8Array") call.answer = response.body.body
  if (isRefused) call.reason = reasonOf(response)
}

/** Returns the reason that a refusal gives, in the shape of Waybill's own errors. */
const reasonOf = ({ body }: HttpServerResponse.HttpServerResponse): string | null => {
  if (body._tag !== "Uint8Array") return null
  try {
    const { error } = JSON.parse(Buffer.from(body.body).toString("utf8")) as { error?: { reason?: unknown } }
    return typeof error?.reason === "string" ? error.reason : null
  } catch {
    return null
  }
}

const rowOf = ({ address, answer, began, body, caller, id, reason, request, response, target }: Call): Row => {
  const query = RequestTarget.queryOf(target)
  const isRefused = response.headersSent && response.statusCode >= 400
  return {
    ...caller,
    id,
    method: (request.method ?? "").slice(0, MAX_METHOD_CHARS),
    path: printable(maskedPath(RequestTarget.pathOf(target))),
    query: query === "" ? "" : printable(maskedQuery(query)),
    status: response.headersSent ? response.statusCode : null,
    reason,
    address: RateWindows.clientAddress(address).text ?? "",
    duration_ms: Math.round(performance.now() - began),
    body_bytes: body?.length ?? 0,
    body: body === undefined ? "" : maskedBody(body),
    answer: answer === undefined ? "" : maskedBody(answer, ShownFields.isShownInAnswer, MAX_LOGGED_ANSWER_BYTES),
    recipients: isRefused && body !== undefined ? recipientsOf(caller.account_id, body) : null,
  }
}

/** Postgres stores no NUL, and a screen should not obey a control character. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\uFFFD")
