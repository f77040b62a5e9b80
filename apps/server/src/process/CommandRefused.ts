import { Data, Runtime } from "effect"
import * as ExitCodes from "./ExitCodes.ts"

/** A command could not do what it was told, for the reason that the message says. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** A check ended, and found what the message says. */
export class CheckDiffers extends Data.TaggedError("CheckDiffers")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_DIFFERENCE
}
