import type * as ApiError from "@waybill/api/errors/ApiError"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Data, Effect } from "effect"
import { hash } from "node:crypto"
import { NativeApi, type NativeRequest } from "./Door.ts"

/** Calls our own API and returns the body of its answer, whose type the caller knows from the API's schema. */
export const call = <A>(request: NativeRequest) =>
  Effect.flatMap(NativeApi, (native) => Effect.map(native.call(request), ({ body }) => body as A))

/**
 * Returns the header of a call that a client repeats safely. Of several calls for one request, each but the first has a key that is
 * made of the client's.
 */
export const idempotency = (headers: Readonly<Record<string, string | undefined>>, nth = 0): Record<string, string> => {
  const key = headers["idempotency-key"]
  if (key === undefined) return {}
  return { "idempotency-key": nth === 0 ? key : hash("sha256", `${nth}/${key}`, "hex") }
}

/** A refusal of one field or query parameter, by the name that the other service gives it. */
export const refuse = (path: string, message: string) =>
  new RequestRefusal.InvalidRequest({ reason: "validation_failed", details: [{ path, message }] })

/** Something that there is not, in this account or in Waybill. */
class Missing extends Data.TaggedError("Missing")<{ readonly message: string }> {
  readonly status = 404
  readonly reason = "route_not_found"
}
export const missing = (message: string) => new Missing({ message })

export const ok = (body: unknown) => ({ status: 200, body })
export const created = (body: unknown) => ({ status: 201, body })

/** Returns how many violations an error has besides the first ones. Its message counts those that `details` leaves out. */
export const violationsBeyond = (shown: number, { details, message }: ApiError.Body["error"]): number => {
  const others = / (\d{1,9}) more errors? (?:is|are) found; `details` lists the first \d+\.$/u.exec(message)?.[1]
  return Math.max(0, (others === undefined ? details.length : Number(others) + 1) - shown)
}
