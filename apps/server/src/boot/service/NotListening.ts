import { Data, Option } from "effect"
import * as InboundSettings from "../../settings/InboundSettings.ts"
import type { Settings } from "../../settings/Settings.ts"

/** A listener could not be started; the message names the setting to change. */
export class NotListening extends Data.TaggedError("NotListening")<{ readonly message: string }> {}

/** The error of a listener in Node. A host name that cannot be resolved comes without a port. */
interface ListenError extends Error {
  readonly code?: string
  readonly port?: number
}

type ListenSettings = Pick<
  Settings,
  "port" | "smtpPort" | "smtpsPort" | "mailPort" | "reportsPort" | "metricsPort" | "host"
>

/** Turns a listener's error into a message that names the setting to change; returns any other error unchanged. */
export const fromError =
  (settings: ListenSettings) =>
  <E>(error: E): E | NotListening => {
    const cause = causeOf(error)
    if (!(cause instanceof Error)) return error
    const message = messageFor(settings, cause)
    return message === undefined ? error : new NotListening({ message })
  }

const causeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "ServeError" && "cause" in error
    ? error.cause
    : error

const messageFor = (settings: ListenSettings, { code, port }: ListenError): string | undefined => {
  const name = settingOf(settings, port)
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} is in use. Set ${name} to another, e.g. ${name}=${otherPort(port)} npm start.`
    case "EACCES":
      return `This user may not listen on port ${port}. Set ${name} to another, e.g. ${name}=${otherPort(port)} npm start.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `This machine has no address ${settings.host}. Set HOST to one of its addresses.`
    default:
      return undefined
  }
}

/** An example of another port that needs no privileges. */
const otherPort = (port: number | undefined): number => (port === 8080 ? 8081 : 8080)

const settingOf = (settings: ListenSettings, port: number | undefined): string => {
  if (port === settings.smtpPort) return "SMTP_PORT"
  if (port === Option.getOrUndefined(settings.smtpsPort)) return "SMTPS_PORT"
  if (port === Option.getOrUndefined(InboundSettings.portOf(settings)))
    return Option.isSome(settings.mailPort) ? "MAIL_PORT" : "REPORTS_PORT"
  return port === Option.getOrUndefined(settings.metricsPort) ? "METRICS_PORT" : "PORT"
}
