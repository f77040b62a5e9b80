import * as Livemode from "@waybill/domain/account/Livemode"
import type * as Id from "@waybill/domain/values/Id"
import type { AdmittedKey } from "@waybill/store/admission/Admission"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import type { Row, Writer } from "@waybill/store/requests/RequestLogWriter"
import type { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as RequestTarget from "../http/middleware/RequestTarget.ts"
import { maskedBody } from "./maskedBody.ts"
import { maskedQuery } from "./maskedQuery.ts"
import { maskedText } from "./maskedText.ts"

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
  body: Uint8Array | undefined
  reason: string | null
}

interface Begun {
  readonly id: string
  readonly caller: Caller
  readonly address: string
  /** Time of its beginning on the clock of `performance`. */
  readonly began: number
}

const calls = new WeakMap<object, Call>()

/** Begins to log a call of an account. Its row is made once the answer has been sent, or the client has left. */
export const begin = (writer: Writer, request: IncomingMessage, response: ServerResponse, begun: Begun): Call => {
  const call: Call = { body: undefined, reason: null }
  calls.set(request, call)
  response.on("close", () =>
    writer.note(() => rowOf(request, response, begun, call), response.headersSent && response.statusCode < 400),
  )
  return call
}

/** Notes the body of a call that is logged. */
export const noteBody = (source: object, body: Uint8Array): void => {
  const call = calls.get(source)
  if (call !== undefined) call.body = body
}

/** Notes the reason of a refusal, in the shape of Waybill's own errors, for a call that is logged. */
export const noteRefusal = (source: object, response: HttpServerResponse.HttpServerResponse): void => {
  const call = response.status < 400 ? undefined : calls.get(source)
  if (call !== undefined) call.reason = reasonOf(response)
}

const reasonOf = ({ body }: HttpServerResponse.HttpServerResponse): string | null => {
  if (body._tag !== "Uint8Array") return null
  try {
    const { error } = JSON.parse(Buffer.from(body.body).toString("utf8")) as { error?: { reason?: unknown } }
    return typeof error?.reason === "string" ? error.reason : null
  } catch {
    return null
  }
}

const rowOf = (request: IncomingMessage, response: ServerResponse, begun: Begun, { body, reason }: Call): Row => {
  const { address, began, caller, id } = begun
  const url = request.url ?? ""
  return {
    ...caller,
    id,
    method: (request.method ?? "").slice(0, MAX_METHOD_CHARS),
    path: printable(maskedText(RequestTarget.pathOf(url))),
    query: url.includes("?") ? printable(maskedQuery(url)) : "",
    status: response.headersSent ? response.statusCode : null,
    reason,
    address: RateWindows.clientAddress(address).text ?? "",
    duration_ms: Math.round(performance.now() - began),
    body_bytes: body?.length ?? 0,
    body: body === undefined ? "" : maskedBody(body),
  }
}

/** Postgres stores no NUL, and a screen should not obey a control character. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\uFFFD")
