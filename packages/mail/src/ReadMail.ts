import { Data, Effect } from "effect"
import * as Parser from "./parsing/Parser.ts"
import type { Mail } from "./parsing/readMail.ts"

/** The mail has parts or headers beyond the limits, or takes longer or more memory to read than one mail may. */
export class Unshowable extends Data.TaggedError("Unshowable")<{}> {}

/** A mail as a mail program reads it. */
export const read = (bytes: Uint8Array, account: string): Effect.Effect<Mail, Unshowable | Parser.Busy> =>
  Parser.run("mail", bytes, account).pipe(
    Effect.catchTag("Killed", () => Effect.succeed(undefined)),
    Effect.flatMap((mail) => (mail === undefined ? Effect.fail(new Unshowable()) : Effect.succeed(mail))),
  )
