import type { Heading } from "@waybill/domain/inbound/InboundState"
import { Effect } from "effect"
import type { Digest } from "../inbound/digest.ts"
import * as InboundHeading from "../inbound/Heading.ts"
import * as Parser from "../parsing/Parser.ts"
import * as ReadMail from "./ReadMail.ts"

/** Returns what tells a mail from others, and how many servers it has passed. */
export const digest = (
  bytes: Uint8Array,
  account: string,
): Effect.Effect<Digest, ReadMail.NotDisplayable | Parser.Busy> =>
  Parser.run("digest", bytes, account).pipe(Effect.catchTag("Killed", () => Effect.fail(new ReadMail.NotDisplayable())))

/** Reads the heading of a mail in bounded time and memory. A mail that cannot be read has what its header says. */
export const heading = (bytes: Uint8Array, account: string): Effect.Effect<Heading, Parser.Busy> =>
  Parser.run("heading", bytes, account).pipe(
    Effect.catchTag("Killed", () => Effect.sync(() => InboundHeading.ofHeader(bytes))),
  )

/** Returns the JSON of a mail with its texts, merged with the fields of `record`. */
export const show = (
  bytes: Uint8Array,
  record: object,
  account: string,
  most?: number,
): Effect.Effect<Uint8Array, ReadMail.NotDisplayable | Parser.Busy> =>
  Parser.run("inbound", { bytes, record, ...(most === undefined ? {} : { most }) }, account).pipe(
    Effect.catchTag("Killed", () => Effect.fail(new ReadMail.NotDisplayable())),
  )

/** Returns the content of a file of a mail; undefined if it has none at this place. */
export const file = (
  bytes: Uint8Array,
  nth: number,
  account: string,
): Effect.Effect<Uint8Array | undefined, ReadMail.NotDisplayable | Parser.Busy> =>
  Parser.run("file", { bytes, nth }, account).pipe(
    Effect.catchTag("Killed", () => Effect.fail(new ReadMail.NotDisplayable())),
  )
