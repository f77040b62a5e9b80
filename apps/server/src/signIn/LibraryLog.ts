import * as Text from "@waybill/domain/values/Text"
import { Effect, Option, Schema } from "effect"

/** Maximum length of a logged text. The library's own messages are shorter; long quotes are cut. */
const MAX_CHARS = 200

const decodeCode = Schema.decodeUnknownOption(Schema.Struct({ code: Schema.String }))

/** Returns the class of an error and its code, such as `DatabaseError 23505`. */
export const kindOf = (error: unknown): string => {
  const name = error instanceof Error ? error.name : typeof error
  return Text.clip([name, ...Option.toArray(Option.map(decodeCode(error), ({ code }) => code))].join(" "), MAX_CHARS)
}

/** Logs a message of the library, without the values attached to it, which may be rows of the database. */
export const write = (level: string, message: string, more: ReadonlyArray<unknown>) => {
  const fields = {
    reason: Text.clip(message, MAX_CHARS),
    ...(more.length === 0 ? {} : { causes: more.map(kindOf) }),
  }
  return level === "error"
    ? Effect.logWarning("sign-in library refused or failed", fields)
    : Effect.logDebug("sign-in library message", fields)
}
