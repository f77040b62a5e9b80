import * as Checks from "@waybill/api/schemas/Checks"
import { Effect } from "effect"
import * as Native from "./Native.ts"

/** Returns the entries of a body that is a list, which it counts before any of them is looked at. */
export const entriesOf = (body: unknown, maximum: number, noun: string) => {
  if (!Array.isArray(body)) return Effect.fail(Native.refuse("", "must be an array"))
  return body.length > maximum
    ? Effect.fail(Native.refuse("", Checks.counted(1, maximum, noun, body.length)))
    : Effect.succeed(body as ReadonlyArray<unknown>)
}
