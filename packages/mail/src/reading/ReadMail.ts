import { Data, Effect } from "effect"
import * as Parser from "../parsing/Parser.ts"

/** The mail exceeds the limits of parts or headers, or takes too much time or memory to read. */
export class NotDisplayable extends Data.TaggedError("NotDisplayable")<{}> {}

/** Returns the JSON of a mail as a mail program shows it, merged with the fields of `record`. */
export const show = (
  bytes: Uint8Array,
  record: object,
  account: string,
): Effect.Effect<Uint8Array, NotDisplayable | Parser.Busy> =>
  Parser.run("mail", { bytes, record }, account).pipe(
    Effect.catchTag("Killed", () => Effect.succeed(undefined)),
    Effect.flatMap((json) => (json === undefined ? Effect.fail(new NotDisplayable()) : Effect.succeed(json))),
  )
