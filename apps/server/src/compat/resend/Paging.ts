import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect } from "effect"

const KNOWN: ReadonlySet<string> = new Set(["limit", "after", "before"])

/** Returns the query of our own list for a page of Resend's, which has the same parameters and no others. */
export const queryOf = (query: URLSearchParams) => {
  const unknown = [...query.keys()].filter((name) => !KNOWN.has(name))
  if (unknown.length > 0) {
    const details = unknown.map((path) => ({ path, message: "is not a parameter of this list" }))
    return Effect.fail(new RequestRefusal.InvalidRequest({ reason: "validation_failed", details }))
  }
  return Effect.succeed(query.size === 0 ? "" : `?${query.toString()}`)
}
