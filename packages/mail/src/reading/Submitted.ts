import { Effect, Schema } from "effect"
import * as MimeTree from "../mime/MimeTree.ts"
import * as Parser from "../parsing/Parser.ts"
import { MAX_ADDRESSES, MAX_PARTS } from "../report/readSubmitted.ts"
import * as ProtectedEntity from "../report/ProtectedEntity.ts"
import type { SubmittedMessage } from "../report/SubmittedMessage.ts"

const DESCRIPTIONS = {
  too_many_lines: "has too many lines",
  too_many_parts: `has more than ${MAX_PARTS} parts`,
  too_complex: `is nested deeper than ${MimeTree.MAX_DEPTH} parts or has more than ${MimeTree.MAX_HEADER_BYTES} bytes of headers`,
  too_many_addresses: `has more than ${MAX_ADDRESSES} addresses`,
  nested_groups: "has address groups inside address groups",
  empty_multipart: "declares a multipart type, but does not contain its boundary",
  header_without_colon: "has a line without a colon in its headers; an empty line must separate headers and text",
  too_slow: "takes too long to parse",
  unknown_charset: "is in a charset that this service cannot read; send UTF-8",
  unknown_encoding:
    "has a transfer encoding that this service cannot read; send 7bit, 8bit, quoted-printable or base64",
  long_line: `is signed or encrypted as a whole, and has a line of more than ${ProtectedEntity.MAX_LINE_BYTES} bytes, which mail servers break`,
} as const

export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", {
  reason: Schema.Literals([
    "too_many_lines",
    "too_many_parts",
    "too_complex",
    "too_many_addresses",
    "nested_groups",
    "empty_multipart",
    "header_without_colon",
    "long_line",
    "too_slow",
    "unknown_charset",
    "unknown_encoding",
  ]),
  /** Name of the charset or encoding. */
  name: Schema.optionalKey(Schema.String),
}) {
  override get message() {
    return `The message ${DESCRIPTIONS[this.reason]}${this.name === undefined ? "" : ` (it says ${this.name})`}`
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
  if (typeof read !== "string") return read
  const [reason, name] = read.split(" ") as [Unreadable["reason"], string?]
  return yield* new Unreadable({ reason, ...(name === undefined ? {} : { name }) })
})
