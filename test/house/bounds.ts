import * as Plan from "@waybill/domain/Plan"
import * as RateLimit from "@waybill/domain/RateLimit"
import { read } from "./source.ts"

/** Who reaches a bound: a customer by a request or a message, an operator by a setting or a machine, or nobody but the code. */
type Audience = "customer" | "operator" | "internal"

interface Bound {
  readonly audience: Audience
  readonly what: string
  /** Name of the constant that `path` declares. */
  readonly constant: string
  readonly path: string
  /** Effect of passing the bound. */
  readonly beyond: string
  /** Printed instead of the declared value, for a table of values. */
  readonly value?: string
}
interface Group {
  readonly title: string
  readonly bounds: ReadonlyArray<Bound>
}

const boundFor =
  (audience: Audience) =>
  (what: string, constant: string, path: string, beyond: string, value?: string): Bound => ({
    audience,
    what,
    constant,
    path,
    beyond,
    ...(value === undefined ? {} : { value }),
  })
const customer = boundFor("customer")
const operator = boundFor("operator")
const internal = boundFor("internal")

const NODE = "apps/server/src/http/NodeServer.ts"
const CONNECTIONS = "apps/server/src/http/Connections.ts"
const BODIES = "apps/server/src/http/Bodies.ts"
const ANSWERS = "apps/server/src/http/Answers.ts"
const DOCUMENTS = "apps/server/src/http/DocumentWindows.ts"
const PREVIEW = "apps/server/src/http/preview.ts"
const JSON_SHAPE = "apps/server/src/http/JsonShape.ts"
const AUTH = "apps/server/src/signIn/betterAuth.ts"
const SIGN_IN = "apps/server/src/signIn/Options.ts"
const SUBMISSION = "apps/server/src/smtp/Submission.ts"
const SUBMISSION_CONNECTION = "apps/server/src/smtp/Connection.ts"
const REPORTS = "apps/server/src/smtp/Reports.ts"
const HANDSHAKES = "apps/server/src/smtp/Handshakes.ts"
const SETTINGS = "apps/server/src/Settings.ts"
const STOP = "apps/server/src/Stop.ts"
const FEED = "apps/server/src/EventFeed.ts"
const VISITS = "apps/server/src/Visits.ts"
const UNSUBSCRIBE = "apps/server/src/unsubscribe.ts"
const PIPELINE = "apps/server/src/tasks/Pipeline.ts"
const JUDGE = "apps/server/src/tasks/judge.ts"
const DELIVER = "apps/server/src/tasks/deliver.ts"
const TURNS = "apps/server/src/tasks/EndpointTurns.ts"
const CALL = "apps/server/src/tasks/callWebhook.ts"
const CALLS = "apps/server/src/tasks/drainWebhooks.ts"
const EXCHANGE = "apps/server/src/tasks/webhookExchange.ts"
const POOL = "packages/mail/src/parsing/ParserPool.ts"
const SUBMITTED = "packages/mail/src/parsing/readSubmitted.ts"
const MIME = "packages/mail/src/parsing/MimeReader.ts"
const REPORT = "packages/mail/src/parsing/readReport.ts"
const SMALL = "packages/mail/src/parsing/isSmall.ts"
const POLICY = "packages/mail/src/MtaSts.ts"
const POLICY_FETCH = "packages/mail/src/MtaStsFetch.ts"
const RATES = "packages/domain/src/RateLimit.ts"
const PLANS = "packages/domain/src/Plan.ts"
const ACCEPTANCE = "packages/domain/src/Acceptance.ts"
const ADDRESS = "packages/domain/src/Address.ts"
const HEADER = "packages/domain/src/Header.ts"
const ACCOUNT = "packages/domain/src/Account.ts"
const WEBHOOK = "packages/domain/src/Webhook.ts"
const DOMAIN_CHECKS = "packages/domain/src/DomainSchedule.ts"
const VISIT = "packages/domain/src/EmailReport.ts"
const MESSAGE = "packages/api/src/EmailMessage.ts"
const EVENTS = "packages/api/src/Events.ts"
const LISTS = "packages/api/src/Page.ts"
const LOGS = "packages/api/src/Logs.ts"
const STATS = "packages/api/src/Stats.ts"

const ofPlans = (value: (terms: Plan.Terms) => number | null): string =>
  Plan.ALL.map((plan) => {
    const number = value(Plan.TERMS[plan])
    return `${Plan.TERMS[plan].name} ${number === null ? "unlimited" : number.toLocaleString("en-US")}`
  }).join(", ")
const rate = (bucket: RateLimit.Bucket): string => RateLimit.PER_MINUTE[bucket].toLocaleString("en-US")

/** Bounds of the product: what a plan, a message, an account or an installation may have. */
const PRODUCT: ReadonlyArray<Group> = [
  {
    title: "Request rates and monthly volume",
    bounds: [
      customer(
        "`POST /email/send` and `POST /email/send/batch` together, a key and minute",
        "PER_MINUTE",
        RATES,
        "429 `request_rate`",
        rate("send"),
      ),
      customer("`GET /email/logs`, a key and minute", "PER_MINUTE", RATES, "429 `request_rate`", rate("logs")),
      customer("All other requests, a key and minute", "PER_MINUTE", RATES, "429 `request_rate`", rate("other")),
      customer(
        "Accepted recipients, an account and UTC month",
        "TERMS",
        PLANS,
        "429 `monthly_quota`",
        ofPlans(({ monthly_emails }) => monthly_emails),
      ),
      operator("Rate that can be granted to an account, a minute", "MAX_GRANTED_PER_MINUTE", ACCOUNT, "refused"),
      operator("Monthly volume that can be granted to an account", "MAX_GRANTED_MONTHLY", ACCOUNT, "refused"),
    ],
  },
  {
    title: "Messages",
    bounds: [
      customer(
        "Recipients in `to`, `cc` and `bcc` together",
        "TERMS",
        PLANS,
        "422 `recipient_limit_exceeded`",
        ofPlans(({ max_recipients }) => max_recipients),
      ),
      customer("Addresses in `to`", "MAX_TO", ACCEPTANCE, "400"),
      customer("Addresses in `cc`, and in `bcc`", "MAX_COPIES", MESSAGE, "400"),
      customer("Addresses in `reply_to`", "MAX_REPLY_TO", MESSAGE, "400"),
      customer("An address", "MAX_ADDRESS_OCTETS", ADDRESS, "400"),
      customer("The part of an address before the `@`", "MAX_LOCAL_OCTETS", ADDRESS, "400"),
      customer("The display name of an address", "MAX_NAME_CHARS", ADDRESS, "400"),
      customer("An address with its display name", "MAX_MAILBOX_CHARS", ADDRESS, "400"),
      customer("`subject`", "MAX_SUBJECT_CHARS", HEADER, "400"),
      customer("Custom headers", "MAX_HEADERS", HEADER, "400"),
      customer("The name of a custom header", "MAX_NAME_CHARS", "packages/api/src/MessageHeaders.ts", "400"),
      customer("The value of a custom header", "MAX_HEADER_VALUE_CHARS", HEADER, "400"),
      customer("A run without a space in a header value", "MAX_UNBROKEN_OCTETS", HEADER, "400"),
      customer("Attachments", "MAX_ATTACHMENTS", "packages/domain/src/Content.ts", "400"),
      customer("The file name of an attachment", "MAX_FILENAME_CHARS", MESSAGE, "400"),
      customer("Tags", "MAX_TAGS", "packages/domain/src/Tag.ts", "400"),
      customer("A tag", "MAX_TAG_CHARS", "packages/domain/src/Tag.ts", "400"),
      customer("Messages in a batch", "MAX_BATCH", "packages/api/src/Batch.ts", "400"),
      customer("`Idempotency-Key`", "MAX_KEY_CHARS", "packages/api/src/Idempotency.ts", "400"),
      customer(
        "Time for which an idempotency key is kept",
        "IDEMPOTENCY_TTL_MS",
        "packages/store/src/Manifest.ts",
        "the key can be used for another message",
      ),
      customer(
        "`scheduled_at` in the past",
        "MAX_SCHEDULE_PAST_MS",
        ACCEPTANCE,
        "422 `scheduled_at_out_of_range`",
      ),
      customer(
        "`scheduled_at` in the future",
        "MAX_SCHEDULE_AHEAD_MS",
        ACCEPTANCE,
        "422 `scheduled_at_out_of_range`",
      ),
      customer(
        "Changes of `scheduled_at` of one message",
        "MAX_RESCHEDULES",
        "packages/domain/src/Email.ts",
        "422 `rescheduled_too_often`",
      ),
    ],
  },
  {
    title: "Delivery",
    bounds: [
      customer("Time of one delivery attempt", "ATTEMPT_LIMIT", DELIVER, "the attempt is recorded as lost"),
      customer(
        "Time from due, while a site asks to come back later without an attempt being counted",
        "PUT_OFF_LIMIT",
        JUDGE,
        "the recipient fails",
      ),
      customer(
        "Time from due, while a message only waits for a site that limits other mail",
        "UNHEARD_LIMIT",
        JUDGE,
        "the recipient fails",
      ),
      customer(
        "Attempts of one message that end with the death of the worker",
        "MAX_LOST",
        "packages/store/src/Reclaim.ts",
        "the message fails as `expired`",
      ),
      operator("Deliveries in progress, a process", "MAX_IN_FLIGHT", PIPELINE, "due messages wait"),
      operator("Connections to a relay, a process", "RELAY_CONNECTIONS", "packages/mail/src/RelayTransport.ts", "messages wait"),
      operator(
        "Connections to a receiving site, a process, until it has shown what it accepts",
        "DEFAULT_CONNECTIONS",
        "packages/mail/src/SiteRules.ts",
        "messages wait",
      ),
    ],
  },
  {
    title: "Tracking",
    bounds: [
      customer("Tracked links of a message", "MAX_TRACKED_LINKS", "packages/mail/src/TrackedHtml.ts", "further links are not tracked"),
      customer("The URL of a tracked link", "MAX_TRACKED_URL_CHARS", "packages/mail/src/TrackedLink.ts", "the link is not tracked"),
      customer("Recorded opens, and recorded clicks, of a message", "MAX_TRACKED", VISIT, "not recorded; links still redirect"),
    ],
  },
  {
    title: "Reading",
    bounds: [
      customer("`limit` of a list", "MAX_LIMIT", LISTS, "400"),
      customer("`limit` of a list, by default", "DEFAULT_LIMIT", LISTS, "the rest is on the next page"),
      customer("`limit` of `GET /events`", "MAX_EVENTS", EVENTS, "400"),
      customer("`limit` of `GET /events`, by default", "DEFAULT_EVENTS", EVENTS, "the rest is on the next page"),
      customer("`subject` filter of `GET /email/logs`", "MAX_SUBJECT_FILTER_CHARS", LOGS, "400"),
      customer("`tag` filters of `GET /email/logs`", "MAX_TAG_FILTERS", LOGS, "400"),
      customer("Period of `GET /stats`, in days", "MAX_STATS_DAYS", STATS, "400"),
      customer("Period of `GET /stats` by hour, in days", "MAX_HOURLY_STATS_DAYS", STATS, "400"),
      customer("Tags in an answer of `GET /stats` by tag", "MAX_SHOWN_TAGS", STATS, "further tags are left out, and the answer says so"),
      customer("`wait` for captured mail", "MAX_WAIT_SECONDS", "packages/api/src/Sandbox.ts", "400"),
      customer("`wait` for events", "MAX_WAIT_SECONDS", EVENTS, "400"),
      customer("Details of a refusal", "MAX_DETAILS", "packages/api/src/Violations.ts", "further details are left out"),
    ],
  },
  {
    title: "Accounts",
    bounds: [
      customer("Active API keys", "MAX_ACTIVE_KEYS", "packages/domain/src/ApiKey.ts", "422 `too_many_api_keys`"),
      customer(
        "Revoked and expired keys in the list of keys",
        "MAX_ENDED_KEYS",
        "packages/store/src/ApiKeys.ts",
        "older ones are not listed",
      ),
      customer("The name of an API key", "MAX_NAME_CHARS", "packages/domain/src/ApiKey.ts", "400"),
      customer("`allowed_ips` of an API key", "MAX_ALLOWED_IPS", "packages/domain/src/ApiKey.ts", "400"),
      customer("Domains", "MAX_DOMAINS", "packages/domain/src/Domain.ts", "422 `too_many_domains`"),
      customer(
        "Time for DNS to show the records of a domain, and time for which they may be missing",
        "GRACE_MS",
        DOMAIN_CHECKS,
        "the domain is `failed`",
      ),
      customer("Members", "MAX_MEMBERS", "packages/domain/src/Team.ts", "422 `too_many_members`"),
      customer("The name of a member", "MAX_NAME_CHARS", "packages/domain/src/Team.ts", "400"),
      operator("The name of an account", "MAX_NAME_CHARS", ACCOUNT, "refused"),
      operator("Days for which content is kept, by default", "DEFAULT_RETENTION_DAYS", ACCOUNT, "content is deleted"),
      operator("Days for which content is kept, at most", "MAX_RETENTION_DAYS", ACCOUNT, "refused"),
      operator("Days for which histories are kept, at least, where they expire", "MIN_LOG_DAYS", ACCOUNT, "refused"),
      operator("Days for which histories are kept, at most, where they expire", "MAX_LOG_DAYS", ACCOUNT, "refused"),
      operator("Days for which webhook deliveries are kept, by default", "DEFAULT_DELIVERY_DAYS", ACCOUNT, "they are deleted"),
      operator("Days for which webhook deliveries are kept, at least", "MIN_DELIVERY_DAYS", ACCOUNT, "refused"),
      operator("Days for which webhook deliveries are kept, at most", "MAX_DELIVERY_DAYS", ACCOUNT, "refused"),
    ],
  },
  {
    title: "Webhooks",
    bounds: [
      customer("Webhooks of an account", "MAX_WEBHOOKS", WEBHOOK, "422 `too_many_webhooks`"),
      customer("Event types of a webhook", "MAX_EVENTS", "packages/api/src/Webhooks.ts", "400"),
      customer("The URL of a webhook", "MAX_URL_CHARS", "packages/domain/src/WebhookUrl.ts", "400"),
      customer("The description of a webhook", "MAX_DESCRIPTION_CHARS", WEBHOOK, "400"),
      customer("Time for which a rotated secret still signs", "SECRET_OVERLAP_MS", WEBHOOK, "it signs no more"),
      customer("Rotated secrets that sign beside the newest", "MAX_PREVIOUS", WEBHOOK, "the oldest signs no more"),
      customer("Time without one successful call", "FAILING_LIMIT_MS", WEBHOOK, "the webhook is disabled"),
      customer("Events of one range replay", "MAX_REPLAY_EVENTS", "packages/store/src/WebhookReplays.ts", "continue at `next_position`"),
      customer("Attempts kept of a delivery", "MAX_HISTORY", "packages/store/src/WebhookDeliveries.ts", "older ones are not shown"),
      customer("Simultaneous calls of an endpoint that answers, a process", "MAX_CALLS_PER_WEBHOOK", TURNS, "calls wait"),
      customer("Simultaneous calls of an endpoint that does not answer, a process", "MIN_CALLS_PER_WEBHOOK", TURNS, "calls wait"),
      operator("Simultaneous calls of all endpoints, a process", "MAX_CALLS", CALLS, "calls wait"),
    ],
  },
  {
    title: "Installation",
    bounds: [
      operator("`MAX_BODY_BYTES`, at most", "LARGEST_MAX_BODY_BYTES", SETTINGS, "the process does not start"),
      operator("`STATS_MONTHS`, by default", "DEFAULT_STATS_MONTHS", SETTINGS, "older statistics are dropped"),
      operator("`STATS_MONTHS`, at least", "MIN_STATS_MONTHS", SETTINGS, "the process does not start"),
      operator("`STATS_MONTHS`, at most", "MAX_STATS_MONTHS", SETTINGS, "the process does not start"),
      operator(
        "`DATABASE_CONNECTIONS`, by default",
        "DEFAULT_CONNECTIONS",
        "packages/store/src/Database.ts",
        "statements wait for a connection",
      ),
      operator("Instance keys", "MAX_KEYS", "packages/store/src/InstanceKey.ts", "the process does not start"),
      operator("Networks in a setting", "MAX_NETWORKS", "packages/mail/src/Network.ts", "the process does not start"),
      operator("Time of an orderly stop", "STOP_TIMEOUT", STOP, "the process ends with 1"),
      operator(
        "Time for which commits wait for a database that restarts or fails over",
        "PATIENCE_MS",
        "packages/store/src/GroupCommit.ts",
        "500",
      ),
      operator(
        "A log file of the embedded Postgres",
        "LOG_MAX_BYTES",
        "packages/embedded-postgres/src/Server.ts",
        "it is rotated; one former file is kept",
      ),
    ],
  },
]

/** Bounds that stop an attacker, as docs/security.md lists them. A new bound is a line here. */
const SECURITY: ReadonlyArray<Group> = [
  {
    title: "HTTP",
    bounds: [
      operator("Connections, a process, by default", "DEFAULT_MAX_CONNECTIONS", CONNECTIONS, "503, closed"),
      operator("Connections, an address, by default", "DEFAULT_MAX_CONNECTIONS_PER_ADDRESS", CONNECTIONS, "503, closed"),
      operator("Connections reserved for health checks beyond these", "RESERVED_CONNECTIONS", CONNECTIONS, "closed"),
      customer("Requests for documents, an address and minute", "DOCUMENTS_PER_MINUTE", DOCUMENTS, "429"),
      customer("Bytes of documents, an address and minute", "DOCUMENT_BYTES_PER_MINUTE", DOCUMENTS, "429"),
      operator("Bytes of documents for all addresses, a minute", "ALL_DOCUMENT_BYTES_PER_MINUTE", DOCUMENTS, "429"),
      operator("Request bodies in progress, a process", "MAX_BODY_BYTES_HELD", BODIES, "503 `overloaded`"),
      customer(
        "Request bodies in progress, an account or address and process",
        "MAX_BODY_BYTES_HELD_PER_ACCOUNT",
        BODIES,
        "503 `overloaded`",
      ),
      operator("Answers of 64 KiB and more that wait to be read, a process", "MAX_ANSWER_BYTES_HELD", ANSWERS, "503 `overloaded`"),
      customer(
        "Answers of 64 KiB and more that wait to be read, an account and process",
        "MAX_ANSWER_BYTES_HELD_PER_ACCOUNT",
        ANSWERS,
        "503 `overloaded`",
      ),
      internal("Time of a request body after which its key is checked again", "READMITTED_AFTER_MS", BODIES, "401 if revoked"),
      internal(
        "Time between checks for revoked keys of streams and waiting requests",
        "LOOK_EVERY",
        "apps/server/src/Revocations.ts",
        "the request ends",
      ),
      customer("All headers of a request", "MAX_HEADER_BYTES", NODE, "400 `headers_too_large`"),
      customer("Time to send the headers", "HEADERS_TIMEOUT_MS", NODE, "400 `request_timeout`, closed"),
      customer("Time to send the whole request", "REQUEST_TIMEOUT_MS", NODE, "400 `request_timeout`, closed"),
      customer("Time in which nothing of an answer is read", "STALLED_TIMEOUT_MS", NODE, "closed"),
      internal("Requests on one connection", "MAX_REQUESTS_PER_SOCKET", NODE, "closed after the answer"),
      customer(
        "A request body, where `MAX_BODY_BYTES` is not set",
        "DEFAULT_MAX_BODY_BYTES",
        SETTINGS,
        "400 `payload_too_large`",
      ),
      customer("JSON values in a request", "MAX_VALUES", JSON_SHAPE, "400 `payload_too_large`"),
      customer("Depth of the JSON of a request", "MAX_DEPTH", JSON_SHAPE, "400 `payload_too_large`"),
      internal("A request body at `/auth`", "MAX_AUTH_BODY_BYTES", "apps/server/src/http/auth.ts", "400"),
      customer("Requests without a valid key, an address and minute", "ANONYMOUS_PER_MINUTE", RATES, "429 `request_rate`"),
      internal("Places of a preview that may show an image", "MAX_PLACES", PREVIEW, "further images are left out"),
      customer("Images shown inside one preview", "MAX_INLINE_BYTES", PREVIEW, "further images are left out"),
      customer("Event streams, an account and process", "MAX_STREAMS_PER_ACCOUNT", FEED, "422 `too_many_streams`"),
      customer("Time of an event stream", "MAX_STREAM", FEED, "it ends; the client connects again"),
      customer("Requests that wait for events, an account and process", "MAX_WAITING_PER_ACCOUNT", FEED, "answered at once"),
      operator("Requests that wait for events, a process", "MAX_WAITING", FEED, "answered at once"),
      customer(
        "Recorded opens and clicks, an address, minute and process",
        "MAX_VISITS_PER_MINUTE",
        VISITS,
        "not recorded; links still redirect",
      ),
      internal("Unsubscribe requests for one message, a minute", "MAX_UNSUBSCRIBES_PER_MINUTE", UNSUBSCRIBE, "429"),
    ],
  },
  {
    title: "Sign-in",
    bounds: [
      customer(
        "Attempts to sign in, to enter a code or to use a link, each, an address and minute",
        "TRIES_PER_MINUTE",
        SIGN_IN,
        "429 `too_many_tries`",
      ),
      customer("Wrong codes in a row", "MAX_WRONG_CODES", AUTH, "429 `account_temporarily_locked` for 15 minutes"),
      customer("A password, at least", "MIN_PASSWORD_CHARS", SIGN_IN, "400"),
      customer("A password, at most", "MAX_PASSWORD_CHARS", SIGN_IN, "400"),
      customer("A session that is not used", "SESSION_DAYS", AUTH, "it ends"),
      customer("A link that sets a password", "LINK_HOURS", SIGN_IN, "it no longer works"),
    ],
  },
  {
    title: "SMTP submission",
    bounds: [
      operator("Connections, a process", "MAX_CONNECTIONS", SUBMISSION, "421"),
      customer("Connections, an address", "MAX_CONNECTIONS_PER_ADDRESS", SUBMISSION, "421"),
      operator("Connections without a login, a process", "MAX_STRANGERS", SUBMISSION, "the oldest idle one is closed with 421"),
      customer("Connections without a login, an address", "MAX_STRANGERS_PER_ADDRESS", SUBMISSION, "421"),
      customer("Time from connecting to the login", "LOGIN_WITHIN", SUBMISSION, "421, closed"),
      customer("Time from connecting to the login, when connections are scarce", "LOGIN_WITHIN_CROWDED", SUBMISSION, "421, closed"),
      operator("TLS handshakes a second", "HANDSHAKES_PER_SECOND", HANDSHAKES, "they wait"),
      customer("Logins on a connection", "MAX_LOGIN_ATTEMPTS", SUBMISSION_CONNECTION, "421, closed"),
      customer("Time without a command", "IDLE", SUBMISSION, "421, closed"),
      customer("Time to send a message", "MESSAGE_WITHIN", SUBMISSION, "421, closed"),
      customer("Recipients of an envelope", "MAX_RECIPIENTS", SUBMISSION, "452"),
      customer("Refused recipients on a connection", "MAX_REFUSED_RECIPIENTS", "apps/server/src/smtp/Listener.ts", "421"),
      operator("Messages in progress, a listener", "MAX_BYTES_HELD", "apps/server/src/smtp/Intake.ts", "452"),
      customer("Parts of a message", "MAX_PARTS", SUBMITTED, "552"),
      customer("Depth of parts", "MAX_DEPTH", MIME, "552"),
      customer("Headers of all parts", "MAX_HEADER_BYTES", MIME, "552"),
      customer("Addresses in the headers", "MAX_ADDRESSES", SUBMITTED, "552"),
    ],
  },
  {
    title: "Incoming reports",
    bounds: [
      operator("Connections, a process", "MAX_CONNECTIONS", REPORTS, "421"),
      internal("Connections, an address", "MAX_CONNECTIONS_PER_ADDRESS", REPORTS, "421"),
      internal("Connections without an accepted recipient, a process", "MAX_STRANGERS", REPORTS, "the oldest idle one is closed"),
      internal("Connections without an accepted recipient, an address", "MAX_STRANGERS_PER_ADDRESS", REPORTS, "421"),
      internal("Time of a connection", "CONNECTED_WITHIN", REPORTS, "421, closed"),
      internal("Time to send a report", "MESSAGE_WITHIN", REPORTS, "421, closed"),
      operator("A report", "MAX_MESSAGE_BYTES", REPORTS, "552"),
      operator("Bytes of a report that are read", "REPORT_SIZE_LIMIT", REPORT, "the rest is not read"),
      internal("Lines of a report that are read", "REPORT_LINES_LIMIT", REPORT, "the rest is not read"),
      internal("Parts of a report", "REPORT_PARTS_LIMIT", REPORT, "250, dropped"),
      internal("Depth of the parts of a report", "MAX_DEPTH", MIME, "250, dropped"),
      internal("Headers of a report", "MAX_HEADER_BYTES", MIME, "250, dropped"),
    ],
  },
  {
    title: "Parsing of mail, HTML and reports",
    bounds: [
      customer(
        "Processor time of one document",
        "DEADLINE_MS",
        POOL,
        "parsing stops: 554, 422 `message_unreadable`, or delivery without a text part or tracking",
      ),
      customer("Further processor time for each MiB", "DEADLINE_MS_PER_MB", POOL, "the same"),
      customer("Memory of one document", "THREAD_MEMORY_MB", POOL, "the same"),
      internal("Threads", "MAX_THREADS", POOL, "documents wait"),
      customer("Waiting documents, an account and process", "MAX_WAITING_PER_ACCOUNT", POOL, "451 over SMTP, 503 over HTTP"),
      operator("Waiting documents, a process", "MAX_WAITING", POOL, "451 over SMTP, 503 over HTTP"),
      internal("A message that is parsed on the event loop", "SMALL_MAIL_BYTES", SMALL, "a thread parses it"),
      internal("HTML that is converted to text on the event loop", "SMALL_HTML_CHARS", SMALL, "a thread parses it"),
      internal("HTML that is searched for links on the event loop", "SMALL_TRACKED_CHARS", SMALL, "a thread parses it"),
    ],
  },
  {
    title: "Servers that Waybill calls",
    bounds: [
      customer("Time of a webhook call", "CALL_TIMEOUT", CALL, "the attempt has failed"),
      customer("The answer of a webhook endpoint", "MAX_ANSWER_BYTES", EXCHANGE, "cut off"),
      internal("Unread replies of an SMTP server", "MAX_UNREAD_BYTES", "packages/mail/src/SmtpWire.ts", "the session ends"),
      internal("Time of an MTA-STS request", "FETCH_TIMEOUT_MS", POLICY_FETCH, "the former policy holds"),
      internal("All bytes that a policy host sends", "FETCH_WIRE_BYTES", POLICY_FETCH, "the former policy holds"),
      internal("Interim answers (1xx) to one request", "MAX_INTERIM_ANSWERS", "packages/mail/src/AnswerBudget.ts", "the request is given up"),
      internal("An MTA-STS policy", "POLICY_BYTES", POLICY, "it is ignored"),
      internal("Server names in a policy, together", "MX_CHARS", POLICY, "it is ignored"),
      internal("Policies in memory", "DOMAINS", POLICY, "the oldest is removed"),
      internal("Policies in the database", "MAX_POLICIES", "packages/store/src/MtaStsPolicies.ts", "the least recently used are removed"),
      internal(
        "Simultaneous requests when policies are renewed",
        "MAX_FETCHES",
        "apps/server/src/tasks/refreshPolicies.ts",
        "they wait",
      ),
      internal("A DNS query", "LOOKUP_TIMEOUT_MS", "packages/mail/src/Dns.ts", "unavailable, tried again later"),
    ],
  },
]

export const GROUPS: ReadonlyArray<Group> = [...PRODUCT, ...SECURITY]

const declared = (constant: string, path: string): string => {
  const [, value] =
    new RegExp(`^(?:export )?const ${constant}(?:: [^=\\n]+)? =\\s*([^\\n]+)$`, "mu").exec(read(path).text) ?? []
  if (value === undefined) throw new Error(`${path} declares no ${constant}`)
  return value.replace(/\s*\/\/.*$/u, "")
}

const KIB = 1024
const inBytes = (bytes: number): string =>
  bytes % KIB ** 2 === 0 ? `${bytes / KIB ** 2} MiB` : bytes % KIB === 0 ? `${bytes / KIB} KiB` : `${bytes} bytes`

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const inTime = (ms: number): string => {
  if (ms % DAY === 0 && ms >= 5 * DAY) return `${ms / DAY} days`
  if (ms % HOUR === 0) return `${ms / HOUR} h`
  return ms % MINUTE === 0 && ms > MINUTE ? `${ms / MINUTE} min` : `${ms / 1_000} s`
}

const MILLIS = { millis: 1, seconds: 1_000, minutes: MINUTE, hours: HOUR, days: DAY } as const
const TIMESTAMP: Readonly<Record<string, number>> = {
  "Timestamp.SECOND": 1_000,
  "Timestamp.MINUTE": MINUTE,
  "Timestamp.HOUR": HOUR,
  "Timestamp.DAY": DAY,
}

/** A quantity with its unit, for people. */
export const spoken = (constant: string, value: string): string => {
  const [, unit, amount] = /^Duration\.(millis|seconds|minutes|hours|days)\(([\d_]+)\)$/u.exec(value) ?? []
  if (unit !== undefined && amount !== undefined)
    return inTime(Number(amount.replaceAll("_", "")) * MILLIS[unit as keyof typeof MILLIS])
  const factors = value
    .split("*")
    .map((factor) => TIMESTAMP[factor.trim()] ?? Number(factor.trim().replaceAll("_", "")))
  const number = factors.reduce((product, factor) => product * factor, 1)
  if (Number.isNaN(number)) throw new Error(`${constant} is no quantity: ${value}`)
  if (/_MS(?:_|$)/u.test(constant)) return inTime(number)
  if (constant.endsWith("_SECONDS")) return inTime(number * 1_000)
  if (constant.endsWith("_MB")) return inBytes(number * KIB ** 2)
  if (/BYTES|SIZE_LIMIT|HEADERS_LIMIT/u.test(constant)) return inBytes(number)
  const [, last = ""] = /_(DAYS|HOURS|MONTHS|CHARS|OCTETS)$/u.exec(constant) ?? []
  const plain = number.toLocaleString("en-US")
  return last === "" ? plain : `${plain} ${last === "CHARS" ? "characters" : last.toLowerCase()}`
}

export const BEGIN_BOUNDS = "<!-- bounds, written by scripts/limits.ts -->"
export const END_BOUNDS = "<!-- end of the bounds -->"

/** Value of a bound, as the code has it. Throws where the code does not declare it. */
export const valueOf = ({ constant, path, value }: Bound): string => {
  if (value === undefined) return spoken(constant, declared(constant, path))
  if (!read(path).text.includes(`const ${constant}:`)) throw new Error(`${path} declares no ${constant}`)
  return value
}

/** The generated part of docs/security.md. */
export const writtenBounds = (): string =>
  SECURITY.map(({ bounds, title }) =>
    [
      `### ${title}`,
      "",
      "| bound | value | constant | when it is exceeded |",
      "|---|---|---|---|",
      ...bounds.map(
        (bound) => `| ${bound.what} | ${valueOf(bound)} | \`${bound.constant}\` in \`${bound.path}\` | ${bound.beyond} |`,
      ),
      "",
    ].join("\n"),
  ).join("\n")

export const BEGIN_LIMITS = "<!-- limits, written by scripts/limits.ts -->"
export const END_LIMITS = "<!-- end of the limits -->"

const limitsOf = (audience: Audience): ReadonlyArray<string> =>
  GROUPS.flatMap(({ bounds, title }) => {
    const rows = bounds.filter((bound) => bound.audience === audience)
    if (rows.length === 0) return []
    return [
      `### ${title}${audience === "operator" ? ", for operators" : ""}`,
      "",
      "| limit | value | when it is exceeded |",
      "|---|---|---|",
      ...rows.map((bound) => `| ${bound.what} | ${valueOf(bound)} | ${bound.beyond} |`),
      "",
    ]
  })

/** The generated part of docs/limits.md: what a customer or an operator can reach. */
export const writtenLimits = (): string =>
  ["## Limits for customers", "", ...limitsOf("customer"), "## Limits for operators", "", ...limitsOf("operator")].join("\n")
