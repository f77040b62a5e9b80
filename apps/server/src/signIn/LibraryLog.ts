import * as Text from "@waybill/domain/values/Text"
import { Effect, Option, Schema } from "effect"

/** Longer than anything the library says of its own accord; what it quotes is cut. */
const MAX_CHARS = 200

const decodeCode = Schema.decodeUnknownOption(Schema.Struct({ code: Schema.String }))

/** The class of an error and its code, as `DatabaseError 23505`. */
export const kindOf = (error: unknown): string => {
  const name = error instanceof Error ? error.name : typeof error
  return Text.clip([name, ...Option.toArray(Option.map(decodeCode(error), ({ code }) => code))].join(" "), MAX_CHARS)
}

/** Writes down what the library logs, without the values that it attaches: they may be rows of the database. */
export const write = (level: string, message: string, more: ReadonlyArray<unknown>) => {
  const fields = {
    said: Text.clip(message, MAX_CHARS),
    ...(more.length === 0 ? {} : { causes: more.map(kindOf) }),
  }
  return level === "error"
    ? Effect.logWarning("the sign-in library refused or failed", fields)
    : Effect.logDebug("the sign-in library remarked", fields)
}
