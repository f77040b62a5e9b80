import { Effect } from "effect"
import type { Arrival } from "../inbound/readArrival.ts"
import * as InboundHeading from "../inbound/Heading.ts"
import { type PostmarkInput, postmarkBody } from "../inbound/postmarkBody.ts"
import { type SendGridInput, sendGridForm } from "../inbound/sendGridForm.ts"
import type { ShowInput } from "../inbound/showInbound.ts"
import * as Parser from "../parsing/Parser.ts"
import * as ReadMail from "./ReadMail.ts"

/**
 * Returns what tells a mail from others, how many servers it has passed, and its heading, in bounded time and memory. A mail that
 * cannot be read has what its header says.
 */
export const arrival = (
  bytes: Uint8Array,
  account: string,
): Effect.Effect<Arrival, ReadMail.NotDisplayable | Parser.Busy> =>
  Parser.run("arrival", bytes, account).pipe(
    Effect.catchTag("Killed", () =>
      Effect.map(orNotDisplayable(Parser.run("digest", bytes, account)), (digest) => ({
        ...digest,
        heading: InboundHeading.ofHeader(bytes),
      })),
    ),
  )

/** Returns the JSON of a mail with its texts, merged with the fields of `record`. */
export const show = (
  bytes: Uint8Array,
  record: object,
  account: string,
  options: Pick<ShowInput, "images" | "most"> = {},
): Effect.Effect<Uint8Array, ReadMail.NotDisplayable | Parser.Busy> =>
  orNotDisplayable(Parser.run("inbound", { bytes, record, ...options }, account))

/** Returns the JSON that Postmark's inbound webhook has for a mail. One that cannot be read has no content. */
export const postmark = (input: PostmarkInput, account: string): Effect.Effect<Uint8Array, Parser.Busy> =>
  Parser.run("inbound_postmark", input, account).pipe(
    Effect.catchTag("Killed", () => Effect.sync(() => postmarkBody({ ...input, bytes: NOTHING }))),
  )

/** Returns the form that SendGrid's Inbound Parse has for a mail. One that cannot be read has no content. */
export const sendGrid = (input: SendGridInput, account: string): Effect.Effect<Uint8Array, Parser.Busy> =>
  Parser.run("inbound_sendgrid", input, account).pipe(
    Effect.catchTag("Killed", () => Effect.sync(() => sendGridForm({ ...input, bytes: NOTHING }))),
  )

const NOTHING = new Uint8Array()

const orNotDisplayable = <A>(reading: Effect.Effect<A, Parser.Killed | Parser.Busy>) =>
  Effect.catchTag(reading, "Killed", () => Effect.fail(new ReadMail.NotDisplayable()))

/** Returns the content of a file of a mail; undefined if it has none at this place. */
export const file = (
  bytes: Uint8Array,
  nth: number,
  account: string,
): Effect.Effect<Uint8Array | undefined, ReadMail.NotDisplayable | Parser.Busy> =>
  orNotDisplayable(Parser.run("file", { bytes, nth }, account))
