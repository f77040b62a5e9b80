import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Cause, Layer, Logger, LogLevel, References } from "effect"
import { type CauseFields, causeFields } from "./causeFields.ts"

/** Maximum length of a text in a line, such as a message that quotes a server, so that tools accept the line. */
export const MAX_TEXT_CHARS = 16_384

/** A log line. It is flat except for `cause`, so that tools find fields such as `request_id` in every line. */
interface Line {
  readonly timestamp: string
  readonly level: string
  readonly message: string
  readonly cause?: CauseFields & { readonly stack?: string }
  readonly [field: string]: unknown
}

const cut = (text: string): string => (text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text)

/** Whether a part of a message is an object literal of fields. An object of a class may contain anything. */
const isFields = (part: unknown): part is Readonly<Record<string, unknown>> =>
  typeof part === "object" && part !== null && Object.getPrototypeOf(part) === Object.prototype

/** Makes fields of annotations and of objects beside the message. They never replace the fields of the line itself. */
const lineOf = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): Line => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const errors = parts.filter((part) => part instanceof Error)
  const failure = causeFields(cause, errors)
  const isDebug = LogLevel.isLessThanOrEqualTo(fiber.getRef(References.MinimumLogLevel), "Debug")
  const own = {
    timestamp: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: cut(
      parts
        .filter((part) => !isFields(part) && !(part instanceof Error))
        .map(String)
        .join(" "),
    ),
    ...(failure === undefined
      ? {}
      : {
          cause: {
            code: failure.code,
            message: cut(failure.message),
            ...(isDebug ? { stack: cut(stackOf(cause, errors)) } : {}),
          },
        }),
  }
  // Assigned first, so that these fields have the same place in every line, and again last, so that none replaces them.
  const fields = parts.filter(isFields)
  return Object.assign({ ...own }, ...fields, fiber.getRef(References.CurrentLogAnnotations), own)
}

const stackOf = (cause: Cause.Cause<unknown>, errors: ReadonlyArray<Error>): string =>
  [...errors.map(({ stack }) => stack ?? ""), ...(cause.reasons.length === 0 ? [] : [Cause.pretty(cause)])].join("\n")

/** Escapes characters that a terminal obeys, since a line may quote a server. */
const inJson = (line: object, replacer?: (key: string, value: unknown) => unknown): string =>
  HiddenCharacters.escapedJson(JSON.stringify(line, replacer))

/** Writes a line, without its fields if they contain a circular reference. */
const written = (line: Line): string => {
  try {
    return inJson(line, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value))
  } catch {
    const { cause, level, message, timestamp } = line
    return inJson({ timestamp, level, message, cause })
  }
}

/** Formats each entry as one line of JSON. */
export const lines = Logger.make((entry) => written(lineOf(entry)))

const TIME = { from: "2026-11-26T".length, to: "2026-11-26T18:55:51".length }

/** Formats each entry for a person at a terminal, without its stack. */
export const readable = Logger.make((entry) => {
  const { cause, level, message, timestamp, ...fields } = lineOf(entry)
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)
  const why = cause === undefined ? [] : [`(${cause.message})`]
  const words = [timestamp.slice(TIME.from, TIME.to), level, message, ...why, ...shown]
  return HiddenCharacters.escape(words.join("  "))
})

/** Writes log lines to standard output: as JSON, or as text on a terminal. */
export const layer = (level: LogLevel.LogLevel): Layer.Layer<never> => {
  const format = process.stdout.isTTY ? readable : lines
  return Layer.merge(Logger.layer([Logger.withConsoleLog(format)]), Layer.succeed(References.MinimumLogLevel, level))
}
