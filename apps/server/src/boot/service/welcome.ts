import { Effect, Option, Redacted } from "effect"
import * as Installation from "./Installation.ts"
import { type MailAddress, ReceivesMailAt } from "../../settings/Instance.ts"
import * as Role from "../../settings/Role.ts"
import { type Settings, hostAndPort, isBaseUrlMissing, urlOf } from "../../settings/Settings.ts"
import * as Output from "../../cli/Output.ts"

/**
 * Prints the addresses of the service, and at the first start its secrets, which are shown nowhere else: as text on a
 * terminal, and otherwise as log lines, whatever the log level.
 */
export const welcome = Effect.fnUntraced(function* (settings: Settings, { first, hasMail }: Installation.Installed) {
  const mail = yield* ReceivesMailAt
  const url = urlOf(settings)
  const { roles } = settings
  const explains = !hasMail && settings.transport === "capture" && roles.includes("api")
  const isTerminal = process.stdout.isTTY
  // A terminal cuts long lines, so its commands take the key from a variable. A line of a log is whole.
  const key = isTerminal || first === undefined ? "$WAYBILL_KEY" : first.key
  const write = (...parts: ReadonlyArray<string>) => command(isTerminal, parts)
  const lines = [
    ...(roles.length < Role.ALL.length ? [`  Roles      ${roles.join(", ")}`] : []),
    ...(roles.includes("api") ? [`  API        ${url}/v1`, `  Docs       ${url}/docs`, `  Dashboard  ${url}/`] : []),
    ...(roles.includes("smtp")
      ? [`  SMTP       ${hostAndPort(settings.host, settings.smtpPort)} (any user name, an API key as password)`]
      : []),
    ...(roles.includes("smtp") && Option.isSome(settings.smtpsPort)
      ? [`  SMTPS      ${hostAndPort(settings.host, settings.smtpsPort.value)} (the same, with TLS from the start)`]
      : []),
    ...(roles.includes("api") && isBaseUrlMissing(settings) ? BASE_URL_HINT : []),
    ...(first === undefined ? [] : secrets(first, isTerminal)),
    ``,
    ...(explains ? example(write, url, key) : []),
    ...(explains && mail !== null ? received(write, mail, url, key) : []),
  ]
  yield* isTerminal ? Output.say(READY, ``, ...lines) : Output.sayAsLog(...lines, READY)
})

const READY = "Waybill is ready."

const BASE_URL_HINT = [
  ``,
  `Other machines can connect, but browsers there cannot sign in until BASE_URL is set to the URL of this service,`,
  `such as BASE_URL=http://waybill.example.com:3025.`,
]

type Write = (...parts: ReadonlyArray<string>) => ReadonlyArray<string>

/** Writes a command as one line, or for a terminal as several; a line that ends within quotes needs no backslash. */
const command = (isTerminal: boolean, parts: ReadonlyArray<string>): ReadonlyArray<string> =>
  isTerminal
    ? parts.map(
        (part, nth) =>
          `${nth === 0 ? "  " : "    "}${part}${nth < parts.length - 1 && !part.endsWith(",") ? " \\" : ""}`,
      )
    : [`  ${parts.join(" ")}`]

const secrets = ({ key, owner }: Installation.FirstSecrets, isTerminal: boolean): ReadonlyArray<string> => [
  ``,
  `Save these now. They are not shown again:`,
  ``,
  `  Sign in    ${owner.email} / ${Redacted.value(owner.password)}`,
  `  API key    ${key}`,
  ...(isTerminal ? [``, `  export WAYBILL_KEY=${key}`] : []),
]

const example = (write: Write, url: string, key: string): ReadonlyArray<string> => [
  `Send a first email. It stays in the sandbox and is never delivered:`,
  ``,
  ...write(
    `curl ${url}/v1/email/send`,
    `-H "Authorization: Bearer ${key}"`,
    `-H "Content-Type: application/json"`,
    `-d '{"from":"Acme <hello@${Installation.FIRST_DOMAIN}>","to":"ana@example.org",`,
    `"subject":"Hello","text":"It works."}'`,
  ),
  ``,
]

const received = (write: Write, { host, port }: MailAddress, url: string, key: string): ReadonlyArray<string> => {
  const at = hostAndPort(host ?? "127.0.0.1", port)
  return [
    `Receive a first email, and see it:`,
    ``,
    ...write(
      `printf 'Subject: My order\\r\\n\\r\\nWhere is it?\\r\\n' |`,
      `curl smtp://${at} --mail-from ana@example.org`,
      `--mail-rcpt support@${Installation.FIRST_DOMAIN} -T -`,
    ),
    ...write(`curl ${url}/v1/inbound`, `-H "Authorization: Bearer ${key}"`),
    ``,
  ]
}
