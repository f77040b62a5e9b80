import { Effect, Schema } from "effect"
import { MAX_DEPTH, MAX_HEADER_BYTES } from "../parsing/MimeReader.ts"
import * as Parser from "../parsing/Parser.ts"
import { MAX_ADDRESSES, MAX_PARTS } from "../parsing/readSubmitted.ts"
import type { SubmittedMessage } from "./SubmittedMessage.ts"

const WORDS = {
  too_many_lines: "has more lines than this service reads",
  too_many_parts: `has more than ${MAX_PARTS} parts`,
  too_complex: `is nested deeper than ${MAX_DEPTH} parts or has more than ${MAX_HEADER_BYTES} bytes of headers`,
  too_many_addresses: `shows more than ${MAX_ADDRESSES} addresses`,
  nested_groups: "has groups of addresses inside one another",
  hollow: "says that it has parts, and its boundary stands nowhere in it",
  too_slow: "takes longer to read than this service reads",
  sealed: "is signed or encrypted as a whole, and would not be so any more after this service has written it anew",
} as const

export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", {
  reason: Schema.Literals([
    "too_many_lines",
    "too_many_parts",
    "too_complex",
    "too_many_addresses",
    "nested_groups",
    "hollow",
    "sealed",
    "too_slow",
  ]),
}) {
  override get message() {
    return `The message ${WORDS[this.reason]}`
  }
}

/** Parses a message that an account submits, in bounded time and memory. */
export const parse = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  account: string,
): Effect.fn.Return<SubmittedMessage, Unreadable | Parser.Busy> {
  const read = yield* Effect.mapError(Parser.run("submitted", bytes, account), (error) =>
    error._tag === "Busy" ? error : new Unreadable({ reason: "too_slow" }),
  )
  return typeof read === "string" ? yield* new Unreadable({ reason: read }) : read
})
