import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Overloaded } from "@waybill/api/errors/RequestRefusal"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import type { ByteBudget, Limits } from "./ByteBudget.ts"

/** Large answers that wait to be read, in one process. */
export const MAX_ANSWER_BYTES_HELD = 256 * 1024 * 1024
/** The same for one account: two of the largest there are, a captured mail of 40 MiB in base64. */
export const MAX_ANSWER_BYTES_HELD_PER_ACCOUNT = 128 * 1024 * 1024
/** Smaller answers are bounded by the number of connections. */
export const LARGE_ANSWER_BYTES = 64 * 1024

export const LIMITS: Limits = {
  total_bytes: MAX_ANSWER_BYTES_HELD,
  holder_bytes: MAX_ANSWER_BYTES_HELD_PER_ACCOUNT,
}

/**
 * Counts a large answer until its client has read it, and refuses one too many. What has changed something is never
 * refused, since a refusal says that nothing was accepted.
 */
export const keep = (
  budget: ByteBudget,
  holder: string,
  request: HttpServerRequest.HttpServerRequest,
  { body }: HttpServerResponse.HttpServerResponse,
): Overloaded | undefined => {
  if (body._tag !== "Uint8Array" || body.contentLength < LARGE_ANSWER_BYTES || request.method === "HEAD")
    return undefined
  const lease = budget.lease(holder)
  if (!lease.take(body.contentLength))
    return request.method === "GET" ? new Overloaded({ budget: "answers" }) : undefined
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
  if (response.destroyed) lease.release()
  else response.once("close", () => lease.release())
  return undefined
}
