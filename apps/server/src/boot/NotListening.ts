import { Data, Option } from "effect"
import type { Settings } from "./Settings.ts"

/** A listener that could not be had, with the setting that names another place. */
export class NotListening extends Data.TaggedError("NotListening")<{ readonly message: string }> {}

/** What Node says of a listener that fails; a name that leads nowhere comes without a port. */
interface Refusal extends Error {
  readonly code?: string
  readonly port?: number
}

type Listening = Pick<Settings, "port" | "smtpPort" | "reportsPort" | "metricsPort" | "host">

/** Puts what kept a listener from its place into words; anything else stays what it is. */
export const told =
  (settings: Listening) =>
  <E>(error: E): E | NotListening => {
    const refusal = causeOf(error)
    if (!(refusal instanceof Error)) return error
    const message = wordsFor(settings, refusal)
    return message === undefined ? error : new NotListening({ message })
  }

const causeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "ServeError" && "cause" in error
    ? error.cause
    : error

const wordsFor = (settings: Listening, { code, port }: Refusal): string | undefined => {
  const name = settingOf(settings, port)
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is taken; ${name}=… names another`
    case "EACCES":
      return `port ${port} is not for this user; ${name}=… names another`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `this machine has no address ${settings.host}; HOST=… names another`
    default:
      return undefined
  }
}

const settingOf = (settings: Listening, port: number | undefined): string => {
  if (port === settings.smtpPort) return "SMTP_PORT"
  if (port === Option.getOrUndefined(settings.reportsPort)) return "REPORTS_PORT"
  return port === Option.getOrUndefined(settings.metricsPort) ? "METRICS_PORT" : "PORT"
}
