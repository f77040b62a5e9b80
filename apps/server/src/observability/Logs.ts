import * as Visible from "@waybill/domain/values/Visible"
import { Cause, Layer, Logger, type LogLevel, References } from "effect"

/** A cause with all its traces, or a message that quotes a server, goes no further: a line stays one that tools take. */
export const MAX_TEXT_CHARS = 16_384

/** One line, flat, so that a tool finds `request_id` without knowing who wrote it. */
interface Line {
  readonly timestamp: string
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

const cut = (text: string): string => (text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text)

/** Fields are written out one by one at the place that logs; an object of a class is not, and may hold anything. */
const isFields = (part: unknown): part is Readonly<Record<string, unknown>> =>
  typeof part === "object" && part !== null && Object.getPrototypeOf(part) === Object.prototype

/** What was annotated and what was said beside the words become fields; none takes the place of the line's own. */
const lineOf = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): Line => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const errors = parts.filter((part) => part instanceof Error).map(String)
  if (cause.reasons.length > 0) errors.push(Cause.pretty(cause))
  const own = {
    timestamp: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: cut(
      parts
        .filter((part) => !isFields(part) && !(part instanceof Error))
        .map(String)
        .join(" "),
    ),
    ...(errors.length === 0 ? {} : { error: cut(errors.join("\n")) }),
  }
  // First, so that a person finds them at the same place in every line; and last, so that they hold.
  return Object.assign({ ...own }, ...parts.filter(isFields), fiber.getRef(References.CurrentLogAnnotations), own)
}

/** A server's words may stand in it, and a log is read on a terminal. */
const inJson = (line: object, replacer?: (key: string, value: unknown) => unknown): string =>
  Visible.escapedJson(JSON.stringify(line, replacer))

/** A circle among the fields must not cost the line. */
const written = (line: Line): string => {
  try {
    return inJson(line, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value))
  } catch {
    const { error, level, message, timestamp } = line
    return inJson({ timestamp, level, message, error })
  }
}

/** Every entry as one line of JSON. */
export const lines = Logger.make((entry) => written(lineOf(entry)))

/** Onto standard output, and nowhere else. */
export const layer = (level: LogLevel.LogLevel): Layer.Layer<never> =>
  Layer.merge(Logger.layer([Logger.withConsoleLog(lines)]), Layer.succeed(References.MinimumLogLevel, level))
