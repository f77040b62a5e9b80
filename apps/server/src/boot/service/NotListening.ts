import { Data, Effect, Option } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { isFree } from "../../smtp/isFree.ts"

/** A listener could not be started; the message names the setting to change. */
export class NotListening extends Data.TaggedError("NotListening")<{ readonly message: string }> {}

/** The error of a listener in Node. A host name that cannot be resolved comes without a port. */
interface ListenError extends Error {
  readonly code?: string
  readonly port?: number
}

type ListenSettings = Pick<
  Settings,
  "port" | "smtpPort" | "smtpsPort" | "mailPort" | "metricsPort" | "metricsHost" | "host" | "roles"
>

/** A port of the settings, and the setting that names it. */
interface PortSetting {
  readonly name: string
  readonly host: string
  readonly port: number
}

const portsOf = (settings: ListenSettings): ReadonlyArray<PortSetting> => {
  const { host, mailPort, metricsHost, metricsPort, port, roles, smtpPort, smtpsPort } = settings
  const one = (name: string, host: string, port: Option.Option<number>): ReadonlyArray<PortSetting> =>
    Option.isNone(port) ? [] : [{ name, host, port: port.value }]
  return [
    ...(roles.includes("api") ? one("PORT", host, Option.some(port)) : []),
    ...(roles.includes("smtp")
      ? [
          ...one("SMTP_PORT", host, Option.some(smtpPort)),
          ...one("SMTPS_PORT", host, smtpsPort),
          ...one("MAIL_PORT", host, mailPort),
        ]
      : []),
    ...one("METRICS_PORT", metricsHost, metricsPort),
  ]
}

/** Fails if ports of the settings are in use, naming all of them, or if two settings have the same one. */
export const checkPorts = Effect.fnUntraced(function* (settings: ListenSettings) {
  const ports = portsOf(settings)
  const taken = yield* Effect.filter(ports, (each) => Effect.map(isFree(each), (free) => !free))
  if (taken.length > 0) return yield* new NotListening({ message: messageOf(taken) })
  for (const [nth, { host, name, port }] of ports.entries()) {
    const other = ports.slice(0, nth).find((each) => each.port === port && each.host === host && port > 0)
    if (other === undefined) continue
    const message = `${other.name} and ${name} are both ${port}. Set ${name} to another, e.g. ${name}=${FREE_PORT} npm start.`
    return yield* new NotListening({ message })
  }
})

const messageOf = (busy: ReadonlyArray<PortSetting>): string => {
  const names = busy.map(({ name }) => name)
  const example = names.map((name, nth) => `${name}=${FREE_PORT + nth}`).join(" ")
  const ports = [...new Set(busy.map(({ port }) => port))]
  if (busy.length === 1) return `Port ${ports[0]} is in use. Set ${names[0]} to another, e.g. ${example} npm start.`
  return `Ports ${and(ports)} are in use. Set ${and(names)} to others, e.g. ${example} npm start.`
}

const and = (items: ReadonlyArray<string | number>): string => `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`

/** An example of a port that needs no privileges. */
const FREE_PORT = 8080

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
  const found = portsOf(settings).find((each) => each.port === port)
  switch (code) {
    case "EADDRINUSE":
      return found === undefined ? undefined : messageOf([found])
    case "EACCES":
      return found === undefined
        ? undefined
        : `This user may not listen on port ${port}. Set ${found.name} to another, e.g. ${found.name}=${FREE_PORT} npm start.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `This machine has no address ${settings.host}. Set HOST to one of its addresses.`
    default:
      return undefined
  }
}
