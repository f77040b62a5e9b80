import * as Counts from "@waybill/api/errors/Counts"
import * as Checks from "@waybill/api/schemas/Checks"
import { Schema } from "effect"
import * as Fields from "./Fields.ts"

/** An object of texts by names that the client chooses, with at most so many of them. */
export const schema = (maximum: number, noun: string) => {
  const message = (actual: number) => Checks.counted(0, maximum, noun, actual)
  return Schema.Record(Schema.String, Fields.Text).check(
    Schema.makeFilter((pairs) => {
      const { length } = Object.keys(pairs)
      return length <= maximum || message(length)
    }, Counts.annotation({ maximum, message })),
  )
}
