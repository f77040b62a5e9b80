import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import type { ByteBudget, BudgetLimits } from "../../web/ByteBudget.ts"

/** Maximum bytes of large responses that wait to be read, per process. */
export const MAX_ANSWER_BYTES_HELD = 256 * 1024 * 1024
/** Maximum bytes per account: two of the largest responses, a mail of the sandbox of 40 MiB in base64. */
export const MAX_ANSWER_BYTES_HELD_PER_ACCOUNT = 128 * 1024 * 1024
/** Smaller responses are not counted; the number of connections limits them. */
export const LARGE_ANSWER_BYTES = 64 * 1024

export const LIMITS: BudgetLimits = {
  total_bytes: MAX_ANSWER_BYTES_HELD,
  holder_bytes: MAX_ANSWER_BYTES_HELD_PER_ACCOUNT,
}

/**
 * Counts a large response until its client has read it, or refuses it beyond the budget. Only responses to GET are
 * refused, because a refusal means that nothing was changed.
 */
export const count = (
  budget: ByteBudget,
  holder: string,
  request: HttpServerRequest.HttpServerRequest,
  { body }: HttpServerResponse.HttpServerResponse,
): RequestRefusal.Overloaded | undefined => {
  if (body._tag !== "Uint8Array" || body.contentLength < LARGE_ANSWER_BYTES || request.method === "HEAD")
    return undefined
  const lease = budget.lease(holder)
  if (!lease.take(body.contentLength))
    return request.method === "GET" ? new RequestRefusal.Overloaded({ budget: "answers" }) : undefined
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  if (response.destroyed) lease.release()
  else response.once("close", () => lease.release())
  return undefined
}
