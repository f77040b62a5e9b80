import * as Duration from "effect/Duration"

/** Maximum delay that a server's hint can cause. */
export const HINT_LIMIT = Duration.hours(4)

/** "try again in 5 minutes", "retry after 300s", "come back in 00:05:00", "delayed for 300 seconds" */
const AMOUNT =
  /(?:try(?:ing)?(?: it)? again|retry(?:ing)?|re-?send|re-?deliver\w*|come back|wait|delayed|deferred|gr[ea]y-?listed|greylisting\b.{0,40}?|please)(?: \w+){0,4}?(?: (?:in|after|for|at least)|(?<=wait))(?: (?:about|approximately|at least|another|~))? ?(\d{1,5})\s?(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b/i
const CLOCK = /(?:again|retry|back|wait|delayed|for|in|after) (\d{1,2}):(\d{2}):(\d{2})\b/i
/** "300 seconds" beside a word of waiting, in any order. */
const REVERSED =
  /(\d{1,5})\s?(s|secs?|seconds?|mins?|minutes?|hrs?|hours?)\b.{0,20}(?:before (?:re-?trying|trying)|then (?:retry|try))/i

export const find = (text: string): Duration.Duration | undefined => {
  const clock = CLOCK.exec(text)
  if (clock !== null) return capped(Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]))
  const [, amount, unit = ""] = AMOUNT.exec(text) ?? REVERSED.exec(text) ?? []
  if (amount === undefined) return undefined
  const initial = unit.charAt(0).toLowerCase()
  return capped(Number(amount) * (initial === "h" ? 3600 : initial === "m" ? 60 : 1))
}

const capped = (seconds: number): Duration.Duration | undefined =>
  seconds === 0 ? undefined : Duration.min(Duration.seconds(seconds), HINT_LIMIT)
