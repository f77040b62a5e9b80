import { Effect, Schema } from "effect"
import * as Parser from "../parsing/Parser.ts"
import type { ReportFact } from "../report/ReportFact.ts"

export class NotAReport extends Schema.TaggedError<NotAReport>()("NotAReport", {
  reason: Schema.Literals([
    "unreadable",
    "too_many_parts",
    "auto_reply",
    "read_receipt",
    "not_a_complaint",
    "unrecognized",
  ]),
}) {
  override get message() {
    return `The message is not a report: ${this.reason}`
  }
}

/** The parsing of a report was ended: it takes more time or memory than a report may. */
export class Unread extends Schema.TaggedError<Unread>()("Unread", {
  why: Schema.Literals(["deadline", "memory", "crash"]),
}) {}

/** Parses the facts of a bounce, delay, receipt or complaint, in bounded time and memory. */
export const parse = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  account: string,
): Effect.fn.Return<ReadonlyArray<ReportFact>, NotAReport | Unread | Parser.Busy> {
  const read = yield* Effect.mapError(Parser.run("report", bytes, account), (error) =>
    error._tag === "Busy" ? error : new Unread({ why: error.why }),
  )
  return typeof read === "string" ? yield* new NotAReport({ reason: read }) : read
})
