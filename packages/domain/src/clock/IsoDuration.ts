import { DateTime, Result, Schema } from "effect"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"

/** A span of time as ISO 8601 writes it. Months and years are calendar units: their length depends on where they begin. */
export const IsoDuration = Schema.Struct({
  months: Schema.Natural,
  millis: Schema.Natural,
})
export type IsoDuration = typeof IsoDuration.Type

const PATTERN =
  /^P(?=[0-9T])(?:([0-9]{1,5})Y)?(?:([0-9]{1,5})M)?(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?(?:T(?=[0-9])(?:([0-9]{1,7})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,10})(?:[.,]([0-9]{1,3}))?S)?)?$/u

const MONTHS_PER_YEAR = 12
const DAYS_PER_WEEK = 7

/** Parses whole numbers of each unit; only seconds may have a fraction. A negative duration is refused. */
export const parse = (text: string): Result.Result<IsoDuration, string> => {
  const match = PATTERN.exec(text)
  if (match === null) return Result.fail("must be an ISO 8601 duration, such as P3D, PT90M or P1DT12H")
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1, 8)
    .map((part) => Number(part ?? 0))
  return Result.succeed({
    months: years * MONTHS_PER_YEAR + months,
    millis:
      (weeks * DAYS_PER_WEEK + days) * Timestamp.DAY +
      hours * Timestamp.HOUR +
      minutes * Timestamp.MINUTE +
      seconds * Timestamp.SECOND +
      Number((match[8] ?? "").padEnd(3, "0")),
  })
}

/** Returns the time after the duration. A day that the month does not have becomes the month's last day. */
export const after = (at: Timestamp.Timestamp, { millis, months }: IsoDuration): Timestamp.Timestamp => {
  const moved = months === 0 ? at : Timestamp.fromDateTime(DateTime.add(DateTime.makeUnsafe(at), { months }))
  return Timestamp.plus(moved, millis)
}

const format = ({ millis, months }: IsoDuration): string =>
  `P${months === 0 ? "" : `${months}M`}T${millis / Timestamp.SECOND}S`

/** Schema of a duration in a request. */
export const FromIso = Text.parsed(
  IsoDuration,
  { description: "ISO 8601 duration", format: "duration", examples: ["P3D", "PT90M"] },
  parse,
  format,
)
