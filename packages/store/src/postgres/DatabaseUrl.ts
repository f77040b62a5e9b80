import { nearestName } from "@waybill/domain/values/nearestName"
import * as Text from "@waybill/domain/values/Text"
import { Data, Redacted, Runtime } from "effect"

/** The form of a connection URL, for messages. */
const FORM = "postgres://user:password@host:5432/database"
const NAME = "DATABASE_URL"

/** Returns what is wrong with the text of a connection URL, without the text itself, which may hold a password. */
export const problemOf = (text: string): string | undefined => {
  const scheme = /^([a-z][a-z0-9+.-]*):/iu.exec(text)?.[1]
  if (scheme === undefined) return `it has no scheme. The form is ${FORM}`
  if (!["postgres", "postgresql"].includes(scheme.toLowerCase()))
    return `it begins with ${Text.shownScheme(scheme)}, and not with postgres:. The form is ${FORM}`
  if (!URL.canParse(text)) return `it is not a valid URL. Percent-encode special characters. The form is ${FORM}`
  return undefined
}

/** Places in a URL that only one of the two drivers reads. */
const IN_PLACE: ReadonlySet<string> = new Set(["user", "password", "dbname"])
/** Parameters that both drivers follow alike. Unknown ones they ignore in silence, so that a misspelt `sslmode` means no TLS. */
const PARAMETERS: ReadonlyArray<string> = ["host", "port", "sslmode", "options"]
const SSL_MODES: ReadonlySet<string> = new Set(["disable", "require", "verify-ca", "verify-full"])
const OF_TLS = /ssl|tls/iu
/** Signs that a further parameter was written into a value. */
const FURTHER = /[;?]|%3b|%3f|sslmode/iu

/**
 * Returns what is wrong with the address of a cell: parameters that one part of a process would follow, and another one not, so that
 * a check of the address says nothing about its use. Names count as they are written, because only one driver decodes all of them.
 */
export const cellProblemOf = (text: string): string | undefined => {
  const problem = problemOf(text)
  if (problem !== undefined) return problem
  const { search } = new URL(text)
  // No name is shown of these, because it may be a part of a password.
  if (text.includes("#") || search.includes("@"))
    return `it has a # or, after the question mark, an @. Percent-encode special characters. The form is ${FORM}`
  const seen = new Set<string>()
  for (const parameter of search.slice(1).split("&").filter(Boolean)) {
    const [name = "", ...rest] = parameter.split("=")
    const value = rest.join("=")
    if (IN_PLACE.has(name))
      return `write the user, the password and the database before the question mark. The form is ${FORM}`
    if (!PARAMETERS.includes(name)) return unknownParameter(name)
    if (seen.has(name)) return `it has the parameter ${name} twice`
    seen.add(name)
    if (name === "sslmode" && !SSL_MODES.has(value)) return `sslmode must be one of ${[...SSL_MODES].join(", ")}`
    if (FURTHER.test(value)) return `the value of ${name} seems to hold another parameter. Write & between parameters`
  }
  return undefined
}

const unknownParameter = (name: string) => {
  const isOfTls = OF_TLS.test(name)
  const nearest = isOfTls ? "sslmode" : nearestName(name, PARAMETERS)
  const shown = /^[\w.-]{1,40}$/u.test(name) ? `the parameter ${name}` : "a parameter"
  const advice = nearest === undefined ? "" : ` Did you mean ${nearest}?`
  const authority = isOfTls
    ? " Give the certificate of your authority to every process and command by NODE_EXTRA_CA_CERTS."
    : ""
  return `it has ${shown}, which is not used. The parameters are ${PARAMETERS.join(", ")}.${advice}${authority}`
}

/** A connection to the database of `DATABASE_URL` failed at start; exits with EX_CONFIG of sysexits.h. */
export class ConnectFailed extends Data.TaggedError("ConnectFailed")<{
  readonly message: string
  /** Whether the same URL may work in a moment, because the server is starting. */
  readonly isTransient: boolean
}> {
  override readonly [Runtime.errorExitCode] = 78
}

/** Names the fault of the URL for which a connection failed; undefined if the error says nothing about the URL. */
export const connectFailed = (url: Redacted.Redacted, cause: unknown, timeout_s: number): ConnectFailed | undefined => {
  const { database, server, user } = partsOf(Redacted.value(url))
  const fail = (fault: string, advice: string, isTransient = false) =>
    new ConnectFailed({ message: `${NAME}: ${fault}. ${advice} The form is ${FORM}.`, isTransient })
  const started = `Check that Postgres runs there, or correct the host and the port.`
  switch (codeOf(cause)) {
    case "ECONNREFUSED":
      return fail(`${server} refused the connection`, started, true)
    case "ENOENT":
      return fail(`there is no socket of a server at ${server}`, started, true)
    case "57P03":
      return fail(`the server at ${server} is starting up or shutting down`, "Try again in a moment.", true)
    case "ENOTFOUND":
      return fail(`the host of ${server} has no address`, "Correct the host.")
    case "EAI_AGAIN":
      return fail(`the host of ${server} could not be looked up`, "Check the DNS of this machine.", true)
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ETIMEDOUT":
      return fail(`${server} cannot be reached`, "Correct the host, or check the network.", true)
    case "TIMEOUT":
      return fail(`${server} did not answer within ${timeout_s} seconds`, started, true)
    case "28P01":
      return fail(`the server at ${server} refuses the password of the user ${user}`, "Correct the password.")
    case "28000":
      return fail(
        `the server at ${server} refuses the user ${user} from this machine`,
        "Correct the user, or pg_hba.conf.",
      )
    case "3D000":
      return fail(`the server at ${server} has no database ${database}`, "Create it, or correct the name.")
    default:
      return undefined
  }
}

/** Messages of the driver for a connection that timed out. */
const TIMED_OUT =
  /^(?:timeout expired|timeout exceeded when trying to connect|connection timed out|.*due to connection timeout)$/iu

/** Code of the error of a connection: its SQLSTATE, or that of the system. */
export const codeOf = (cause: unknown): string | undefined => {
  if (!(cause instanceof Error)) return undefined
  if (TIMED_OUT.test(cause.message)) return "TIMEOUT"
  // A host with several addresses fails with the errors of all of them.
  const [first] = cause instanceof AggregateError ? (cause.errors as ReadonlyArray<unknown>) : [cause]
  return typeof first === "object" && first !== null && "code" in first ? String(first.code) : undefined
}

const partsOf = (text: string) => {
  const url = new URL(text)
  const host = url.searchParams.get("host") ?? url.hostname
  const port = url.searchParams.get("port") ?? (url.port === "" ? "5432" : url.port)
  const user = decodeURIComponent(url.username)
  return {
    server: host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : `${host === "" ? "localhost" : host}:${port}`,
    user: `"${user}"`,
    database: `"${decodeURIComponent(url.pathname.slice(1)) || user}"`,
  }
}

/** The server in a connection URL, without the user and the password. */
export const serverOf = (url: Redacted.Redacted): string => partsOf(Redacted.value(url)).server
