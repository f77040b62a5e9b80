import { read } from "./source.ts"

/** A bound that an attacker meets. `constant` stands in `path`, or is a setting of the operator. */
interface Bound {
  readonly what: string
  readonly constant: string
  readonly path: string
  readonly beyond: string
}
interface Group {
  readonly title: string
  readonly bounds: ReadonlyArray<Bound>
}

const server = (file: string) => `apps/server/src/${file}.ts`
const mail = (file: string) => `packages/mail/src/${file}.ts`
const store = (file: string) => `packages/store/src/${file}.ts`
const bound = (what: string, constant: string, path: string, beyond: string): Bound => ({
  what,
  constant,
  path,
  beyond,
})

const NODE = server("http/NodeServer")
const CONNECTIONS = server("http/Connections")
const BODIES = server("http/Bodies")
const ANSWERS = server("http/Answers")
const DOCUMENTS = server("http/DocumentWindows")
const AUTH = server("signIn/betterAuth")
const SIGN_IN = server("signIn/Options")
const SUBMISSION = server("smtp/Submission")
const REPORTS = server("smtp/Reports")
const HANDSHAKES = server("smtp/Handshakes")
const POOL = mail("parsing/ParserPool")
const SUBMITTED = mail("parsing/readSubmitted")
const MIME = mail("parsing/MimeReader")
const REPORT = mail("parsing/readReport")
const UNREAD = store("UnreadReports")
const SMALL = mail("parsing/isSmall")
const FEED = server("EventFeed")
const CALL = server("tasks/callWebhook")
const EXCHANGE = server("tasks/webhookExchange")
const VISITS = server("Visits")
const UNSUBSCRIBE = server("unsubscribe")

/** The rows of docs/security.md under "What is bounded, and by what number"; a new bound is a line here. */
export const GROUPS: ReadonlyArray<Group> = [
  {
    title: "HTTP",
    bounds: [
      bound("Connections of a process, by default", "DEFAULT_MAX_CONNECTIONS", CONNECTIONS, "503, closed"),
      bound("The same of an address", "DEFAULT_MAX_CONNECTIONS_PER_ADDRESS", CONNECTIONS, "503, closed"),
      bound("Connections kept for probes beyond them", "RESERVED_CONNECTIONS", CONNECTIONS, "closed"),
      bound("Requests for documents, an address and minute", "DOCUMENTS_PER_MINUTE", DOCUMENTS, "429"),
      bound("Their bytes, an address and minute", "DOCUMENT_BYTES_PER_MINUTE", DOCUMENTS, "429"),
      bound("Their bytes for all, a minute", "ALL_DOCUMENT_BYTES_PER_MINUTE", DOCUMENTS, "429"),
      bound("Bodies under way", "MAX_BODY_BYTES_HELD", BODIES, "503 `overloaded`"),
      bound("The same of an account or address", "MAX_BODY_BYTES_HELD_PER_ACCOUNT", BODIES, "503 `overloaded`"),
      bound("Large answers that wait to be read", "MAX_ANSWER_BYTES_HELD", ANSWERS, "503 `overloaded`"),
      bound("The same of an account", "MAX_ANSWER_BYTES_HELD_PER_ACCOUNT", ANSWERS, "503 `overloaded`"),
      bound("Time of a body after which its key is admitted again", "READMITTED_AFTER_MS", BODIES, "401 if revoked"),
      bound("Pause between looks for revoked streams and waits", "LOOK_EVERY", server("Revocations"), "they end"),
      bound("All headers of a request", "MAX_HEADER_BYTES", NODE, "400 `headers_too_large`"),
      bound("Time for the headers", "HEADERS_TIMEOUT_MS", NODE, "400 `request_timeout`, closed"),
      bound("Time for the whole request", "REQUEST_TIMEOUT_MS", NODE, "400 `request_timeout`, closed"),
      bound("Time in which nothing of an answer is read", "STALLED_TIMEOUT_MS", NODE, "closed"),
      bound("Requests of one connection", "MAX_REQUESTS_PER_SOCKET", NODE, "closed after the answer"),
      bound(
        "A request body, where `MAX_BODY_BYTES` is not set",
        "DEFAULT_MAX_BODY_BYTES",
        server("Settings"),
        "400 `payload_too_large`",
      ),
      bound("The same at `/auth`", "MAX_AUTH_BODY_BYTES", server("http/auth"), "400"),
      bound(
        "Requests without a valid key, an address and minute",
        "ANONYMOUS_PER_MINUTE",
        "packages/domain/src/RateLimit.ts",
        "429",
      ),
      bound("Places of a preview that may show a picture", "MAX_PLACES", server("http/preview"), "they are left out"),
      bound("Pictures shown inside one preview", "MAX_INLINE_BYTES", server("http/preview"), "they are left out"),
      bound("Event streams of an account and process", "MAX_STREAMS_PER_ACCOUNT", FEED, "422 `too_many_streams`"),
      bound("Time of an event stream", "MAX_STREAM", FEED, "it ends, to be taken up again"),
      bound("Readers that wait for events, a process", "MAX_WAITING", FEED, "answered at once"),
      bound("Opens and clicks, an address and minute", "MAX_VISITS_PER_MINUTE", VISITS, "led on, and not recorded"),
      bound("Unsubscribing by one email, a minute", "MAX_UNSUBSCRIBES_PER_MINUTE", UNSUBSCRIBE, "429"),
    ],
  },
  {
    title: "Sign-in",
    bounds: [
      bound("Sign-ins, codes and links that are tried, an address and minute", "TRIES_PER_MINUTE", SIGN_IN, "429"),
      bound("Wrong codes in a row", "MAX_WRONG_CODES", AUTH, "the second factor takes none for a while"),
      bound("A password", "MAX_PASSWORD_CHARS", SIGN_IN, "400"),
      bound("A session that is not used", "SESSION_DAYS", AUTH, "it ends"),
      bound("A link that sets a password", "LINK_HOURS", SIGN_IN, "it opens nothing"),
    ],
  },
  {
    title: "SMTP submission",
    bounds: [
      bound("Connections of a process", "MAX_CONNECTIONS", SUBMISSION, "421"),
      bound("The same of an address", "MAX_CONNECTIONS_PER_ADDRESS", SUBMISSION, "421"),
      bound("Connections without a login", "MAX_STRANGERS", SUBMISSION, "the oldest idle one is closed with 421"),
      bound("The same of an address", "MAX_STRANGERS_PER_ADDRESS", SUBMISSION, "421"),
      bound("Time until a login", "LOGIN_WITHIN", SUBMISSION, "421, closed"),
      bound("The same when places are scarce", "LOGIN_WITHIN_CROWDED", SUBMISSION, "421, closed"),
      bound("TLS handshakes a second", "HANDSHAKES_PER_SECOND", HANDSHAKES, "they wait"),
      bound("Logins that are tried on a connection", "MAX_LOGIN_ATTEMPTS", server("smtp/Connection"), "421, closed"),
      bound("Time without a word", "IDLE", SUBMISSION, "421, closed"),
      bound("Time for a message", "MESSAGE_WITHIN", SUBMISSION, "421, closed"),
      bound("Recipients of a message", "MAX_RECIPIENTS", SUBMISSION, "452"),
      bound("Recipients that are refused on a connection", "MAX_REFUSED_RECIPIENTS", server("smtp/Listener"), "421"),
      bound("Messages under way in a listener", "MAX_BYTES_HELD", server("smtp/Intake"), "452"),
      bound("Parts of a message", "MAX_PARTS", SUBMITTED, "554"),
      bound("Depth of parts", "MAX_DEPTH", MIME, "554"),
      bound("Headers of all parts", "MAX_HEADER_BYTES", MIME, "554"),
      bound("Addresses that are shown", "MAX_ADDRESSES", SUBMITTED, "554"),
    ],
  },
  {
    title: "Reports",
    bounds: [
      bound("Connections of a process", "MAX_CONNECTIONS", REPORTS, "421"),
      bound("The same of an address", "MAX_CONNECTIONS_PER_ADDRESS", REPORTS, "421"),
      bound("Connections without an accepted recipient", "MAX_STRANGERS", REPORTS, "the oldest idle one is closed"),
      bound("The same of an address", "MAX_STRANGERS_PER_ADDRESS", REPORTS, "421"),
      bound("Time of a connection", "CONNECTED_WITHIN", REPORTS, "421, closed"),
      bound("Time for a message", "MESSAGE_WITHIN", REPORTS, "421, closed"),
      bound("A message", "MAX_MESSAGE_BYTES", REPORTS, "552"),
      bound("What is read of it", "REPORT_SIZE_LIMIT", REPORT, "the rest is not read"),
      bound("Lines that are read of it", "REPORT_LINES_LIMIT", REPORT, "the rest is not read"),
      bound("Parts", "REPORT_PARTS_LIMIT", REPORT, "250, dropped"),
      bound("Reports of an account kept unread", "MAX_UNREAD_PER_ACCOUNT", UNREAD, "451"),
      bound("Bytes of all reports kept unread", "MAX_UNREAD_BYTES", UNREAD, "451"),
      bound("Time that a report is kept unread", "KEPT_DAYS", UNREAD, "removed"),
      bound("Processor time of a retry by an operator", "RETRY_DEADLINE_MS", server("cli/reports"), "still unread"),
      bound("Heap of its thread", "RETRY_MEMORY_MB", server("cli/reports"), "still unread"),
      bound("Depth of parts", "MAX_DEPTH", MIME, "250, dropped"),
      bound("Headers", "MAX_HEADER_BYTES", MIME, "250, dropped"),
    ],
  },
  {
    title: "Parsing of mail, HTML and reports",
    bounds: [
      bound("Processor time of one document", "DEADLINE_MS", POOL, "its thread is ended; 554, 422, or kept unread"),
      bound("More of it for each MiB", "DEADLINE_MS_PER_MB", POOL, "the same"),
      bound("Heap of a thread", "THREAD_MEMORY_MB", POOL, "the same"),
      bound("Threads", "MAX_THREADS", POOL, "documents wait"),
      bound("Documents of an account that wait", "MAX_WAITING_PER_ACCOUNT", POOL, "451 over SMTP, 503 over HTTP"),
      bound("Documents that wait", "MAX_WAITING", POOL, "451 over SMTP, 503 over HTTP"),
      bound("A mail that is parsed without a thread", "SMALL_MAIL_BYTES", SMALL, "a thread parses it"),
      bound("HTML that becomes text without a thread", "SMALL_HTML_CHARS", SMALL, "a thread parses it"),
      bound("HTML that is tracked without a thread", "SMALL_TRACKED_CHARS", SMALL, "a thread parses it"),
    ],
  },
  {
    title: "Servers that the service calls",
    bounds: [
      bound("Time of a webhook call", "CALL_TIMEOUT", CALL, "the attempt has failed"),
      bound("An endpoint's answer", "MAX_ANSWER_BYTES", EXCHANGE, "cut off"),
      bound("Unread replies of an SMTP server", "MAX_UNREAD_BYTES", mail("SmtpWire"), "the session ends"),
      bound("Time of an MTA-STS fetch", "FETCH_TIMEOUT_MS", mail("MtaStsFetch"), "the last policy holds"),
      bound("All that a policy host sends", "FETCH_WIRE_BYTES", mail("MtaStsFetch"), "the last policy holds"),
      bound("Interim answers (1xx) to one request", "MAX_INTERIM_ANSWERS", mail("AnswerBudget"), "given up"),
      bound("A policy", "POLICY_BYTES", mail("MtaSts"), "it is none"),
      bound("Names of servers in a policy, together", "MX_CHARS", mail("MtaSts"), "it is none"),
      bound("Policies in memory", "DOMAINS", mail("MtaSts"), "the oldest is forgotten"),
      bound("Policies in the database", "MAX_POLICIES", store("MtaStsPolicies"), "the least used goes"),
      bound("Fetches at once when policies are renewed", "MAX_FETCHES", server("tasks/refreshPolicies"), "they wait"),
      bound("A DNS look-up", "LOOKUP_TIMEOUT_MS", mail("Dns"), "unavailable, tried again later"),
    ],
  },
]

const declared = (constant: string, path: string): string => {
  const [, value] =
    new RegExp(`^(?:export )?const ${constant}(?:: [^=\\n]+)? =\\s*([^\\n]+)$`, "mu").exec(read(path).text) ?? []
  if (value === undefined) throw new Error(`${path} declares no ${constant}`)
  return value.replace(/\s*\/\/.*$/u, "")
}

const KIB = 1024
const inBytes = (bytes: number): string =>
  bytes % KIB ** 2 === 0 ? `${bytes / KIB ** 2} MiB` : bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} bytes`

const inTime = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`)

const MILLIS = { millis: 1, seconds: 1_000, minutes: 60_000 } as const

/** A quantity as a person says it. */
export const spoken = (constant: string, value: string): string => {
  const [, unit, amount] = /^Duration\.(millis|seconds|minutes)\(([\d_]+)\)$/u.exec(value) ?? []
  if (unit !== undefined && amount !== undefined)
    return inTime(Number(amount.replaceAll("_", "")) * MILLIS[unit as keyof typeof MILLIS])
  const factors = value.split("*").map((factor) => Number(factor.trim().replaceAll("_", "")))
  const number = factors.reduce((product, factor) => product * factor, 1)
  if (Number.isNaN(number)) throw new Error(`${constant} is no quantity: ${value}`)
  if (/_MS(?:_|$)/u.test(constant)) return inTime(number)
  if (constant.endsWith("_MB")) return inBytes(number * KIB ** 2)
  if (/BYTES|SIZE_LIMIT|HEADERS_LIMIT/u.test(constant)) return inBytes(number)
  const [, last = ""] = /_(DAYS|HOURS|CHARS)$/u.exec(constant) ?? []
  const plain = number.toLocaleString("en-US")
  return last === "" ? plain : `${plain} ${last === "CHARS" ? "characters" : last.toLowerCase()}`
}

export const BEGIN_BOUNDS = "<!-- bounds, written by scripts/limits.ts -->"
export const END_BOUNDS = "<!-- end of the bounds -->"

/** The part of docs/security.md that is read off the code. */
export const writtenBounds = (): string =>
  GROUPS.map(({ bounds, title }) =>
    [
      `### ${title}`,
      "",
      "| what | number | constant | beyond it |",
      "|---|---|---|---|",
      ...bounds.map(
        ({ beyond, constant, path, what }) =>
          `| ${what} | ${spoken(constant, declared(constant, path))} | \`${constant}\` in \`${path}\` | ${beyond} |`,
      ),
      "",
    ].join("\n"),
  ).join("\n")
