import { Effect, Schema } from "effect"
import { MAX_DEPTH, MAX_HEADER_BYTES } from "../parsing/MimeReader.ts"
import * as Parser from "../parsing/Parser.ts"
import { MAX_ADDRESSES, MAX_PARTS } from "../parsing/readSubmitted.ts"

/** One address of a header, both parts as written there. */
export interface Mailbox {
  readonly address: string
  readonly name: string
}

export interface File {
  readonly filename: string
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly contentId: string | null
}

/** A message as a mail program submits it, before any rule is applied. */
export interface Submitted {
  readonly from: ReadonlyArray<Mailbox>
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
  readonly replyTo: ReadonlyArray<Mailbox>
  /** The first Subject, when there are several. */
  readonly subject: string
  readonly subjects: number
  /** All other headers in order, repeated ones included. */
  readonly headers: ReadonlyArray<Field>
  readonly html: string | null
  readonly text: string | null
  readonly files: ReadonlyArray<File>
}

export interface Field {
  readonly name: string
  readonly value: string
}

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
): Effect.fn.Return<Submitted, Unreadable | Parser.Busy> {
  const read = yield* Effect.mapError(Parser.run("submitted", bytes, account), (error) =>
    error._tag === "Busy" ? error : new Unreadable({ reason: "too_slow" }),
  )
  return typeof read === "string" ? yield* new Unreadable({ reason: read }) : read
})
