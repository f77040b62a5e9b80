import { Effect } from "effect"
import * as Parser from "../parsing/Parser.ts"
import type { Feedback } from "../report/readFeedback.ts"
import * as Report from "./Report.ts"

/** Parses of complaints wait in a queue of their own: their account is known only afterwards. */
const QUEUE = "feedback"

/** Parses a complaint that came to an address for feedback, in bounded time and memory. */
export const parse = Effect.fnUntraced(function* (
  bytes: Uint8Array,
): Effect.fn.Return<Feedback, Report.NotAReport | Report.Unread | Parser.Busy> {
  const read = yield* Effect.mapError(Parser.run("feedback", bytes, QUEUE), (error) =>
    error._tag === "Busy" ? error : new Report.Unread({ why: error.why }),
  )
  return typeof read === "string" ? yield* new Report.NotAReport({ reason: read }) : read
})
