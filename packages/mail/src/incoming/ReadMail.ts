import { Data, Effect } from "effect"
import * as Parser from "../parsing/Parser.ts"

/** The mail has parts or headers beyond the limits, or takes longer or more memory to read than one mail may. */
export class Unshowable extends Data.TaggedError("Unshowable")<{}> {}

/** The JSON that shows a mail as a mail program reads it, together with what `record` says of it. */
export const show = (
  bytes: Uint8Array,
  record: object,
  account: string,
): Effect.Effect<Uint8Array, Unshowable | Parser.Busy> =>
  Parser.run("mail", { bytes, record }, account).pipe(
    Effect.catchTag("Killed", () => Effect.succeed(undefined)),
    Effect.flatMap((json) => (json === undefined ? Effect.fail(new Unshowable()) : Effect.succeed(json))),
  )
