import { customer, type Group, internal, operator } from "./Bound.ts"
import { reportBounds } from "./reportBounds.ts"

const NODE = "apps/server/src/http/NodeServer.ts"
const CONNECTIONS = "apps/server/src/requests/Connections.ts"
const BODIES = "apps/server/src/web/Bodies.ts"
const LARGE = "apps/server/src/http/LargeRequests.ts"
const ANSWERS = "apps/server/src/http/middleware/LargeResponses.ts"
const SENDGRID = "apps/server/src/compat/sendgrid/MailSend.ts"
const REMOTE = "apps/server/src/compat/RemoteFile.ts"
const DOCUMENTS = "apps/server/src/http/pages/DocumentWindows.ts"
const PREVIEW = "apps/server/src/http/pages/PreviewPages.ts"
const EXCESS = "packages/api/src/errors/Excess.ts"
const JSON_SHAPE = "apps/server/src/web/BodyScan.ts"
const AUTH = "apps/server/src/signIn/BetterAuth.ts"
const SIGN_IN = "apps/server/src/signIn/Options.ts"
const MCP = "apps/server/src/mcp/overHttp.ts"
const SUBMISSION = "apps/server/src/smtp/Submission.ts"
const SUBMISSION_CONNECTION = "apps/server/src/smtp/Connection.ts"
const REPORTS = "apps/server/src/smtp/Reports.ts"
const HOOKS = "apps/server/src/providers/HookRoutes.ts"
const UNREAD = "packages/store/src/content/UnreadReports.ts"
const RETRY = "apps/server/src/cli/commands/reports.ts"
const HANDSHAKES = "apps/server/src/smtp/Handshakes.ts"
const FEED = "apps/server/src/live/EventFeed.ts"
const VISITS = "apps/server/src/links/Visits.ts"
const UNSUBSCRIBE = "apps/server/src/links/UnsubscribeLinks.ts"
const CALL = "apps/server/src/worker/webhooks/WebhookCaller.ts"
const EXCHANGE = "apps/server/src/worker/webhooks/WebhookExchange.ts"
const POOL = "packages/mail/src/parsing/ParserPool.ts"
const SUBMITTED = "packages/mail/src/report/readSubmitted.ts"
const MIME = "packages/mail/src/mime/MimeReader.ts"
const REPORT = "packages/mail/src/report/ReportParts.ts"
const SMALL = "packages/mail/src/parsing/isSmall.ts"
const PEER = "packages/mail/src/dane/DanePeer.ts"
const POLICY = "packages/mail/src/dns/MtaSts.ts"
const POLICY_FETCH = "packages/mail/src/dns/MtaStsFetch.ts"
const COMPRESSION = "apps/server/src/http/middleware/Compression.ts"
const RATES = "packages/domain/src/account/RateLimit.ts"

/** Bounds that stop an attacker, as docs/security.md lists them. A new bound is a line here. */
export const securityBounds: ReadonlyArray<Group> = [
  {
    title: "HTTP",
    bounds: [
      operator("Connections per process, by default", "DEFAULT_MAX_CONNECTIONS", CONNECTIONS, "503, closed"),
      operator(
        "Connections per address, by default",
        "DEFAULT_MAX_CONNECTIONS_PER_ADDRESS",
        CONNECTIONS,
        "503, closed",
      ),
      operator("Connections reserved for health checks beyond these", "RESERVED_CONNECTIONS", CONNECTIONS, "closed"),
      customer("Requests for documents per address and minute", "DOCUMENTS_PER_MINUTE", DOCUMENTS, "429"),
      customer("Bytes of documents per address and minute", "DOCUMENT_BYTES_PER_MINUTE", DOCUMENTS, "429"),
      operator("Bytes of documents for all addresses per minute", "ALL_DOCUMENT_BYTES_PER_MINUTE", DOCUMENTS, "429"),
      operator("Batches of mail or suppressions in progress per process", "MAX_AT_ONCE", LARGE, "they wait"),
      operator("Batches of mail or suppressions of an account in progress", "MAX_PER_ACCOUNT", LARGE, "they wait"),
      operator("Request bodies in progress per process", "MAX_BODY_BYTES_HELD", BODIES, "503 `overloaded`"),
      customer(
        "Request bodies in progress per account (or address without a key) and process",
        "MAX_BODY_BYTES_HELD_PER_ACCOUNT",
        BODIES,
        "503 `overloaded`",
      ),
      operator(
        "Answers of 64 KiB and more that wait to be read per process",
        "MAX_ANSWER_BYTES_HELD",
        ANSWERS,
        "503 `overloaded`",
      ),
      customer(
        "Answers of 64 KiB and more that wait to be read per account and process",
        "MAX_ANSWER_BYTES_HELD_PER_ACCOUNT",
        ANSWERS,
        "503 `overloaded`",
      ),
      internal(
        "Time of a request body after which its key is checked again",
        "READMITTED_AFTER_MS",
        BODIES,
        "401 if revoked",
      ),
      internal(
        "Time between checks for revoked keys of streams and waiting requests",
        "CHECK_EVERY",
        "apps/server/src/live/Revocations.ts",
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
        "apps/server/src/settings/HttpSettings.ts",
        "400 `payload_too_large`",
      ),
      customer("JSON values in a request", "MAX_VALUES", JSON_SHAPE, "400 `payload_too_large`"),
      internal(
        "Characters of malformed JSON that are searched for its error",
        "MAX_SEARCHED_CHARS",
        "apps/server/src/web/jsonErrorIn.ts",
        "an error without its place",
      ),
      internal(
        "Values of a request that are compared with the known ones to name the nearest",
        "MAX_COMPARED_VALUES",
        "packages/api/src/errors/Violations.ts",
        "the known ones only",
      ),
      customer("Depth of the JSON of a request", "MAX_DEPTH", JSON_SHAPE, "400 `payload_too_large`"),
      customer("Fields of an object in a request", "MAX_FIELDS", JSON_SHAPE, "400 `payload_too_large`"),
      internal("Values of a message on the fast path of a send", "MAX_FEW_VALUES", JSON_SHAPE, "the normal path"),
      internal("Items of a list for which an endpoint names no maximum", "MAX_UNCOUNTED", EXCESS, "400"),
      internal(
        "Items and fields of a value that is decoded before they are counted",
        "SMALL_SIZE",
        EXCESS,
        "counted first",
      ),
      internal(
        "Unknown fields or parameters of a request that are compared with the known ones",
        "MAX_COMPARED_NAMES",
        "packages/api/src/errors/Violations.ts",
        "the error lists the known ones",
      ),
      internal("A request body at `/auth`", "MAX_AUTH_BODY_BYTES", "apps/server/src/signIn/AuthRoutes.ts", "400"),
      customer(
        "Requests without a valid key per address and minute",
        "ANONYMOUS_PER_MINUTE",
        RATES,
        "429 `request_rate`",
      ),
      customer("An answer that is compressed, at least", "MIN_COMPRESSED_BYTES", COMPRESSION, "sent as it is"),
      customer("An answer that is compressed, at most", "MAX_COMPRESSED_BYTES", COMPRESSION, "sent as it is"),
      customer("Reads of the own session per user and minute", "SESSION_READS_PER_MINUTE", RATES, "429 `request_rate`"),
      internal("Places of a preview that may show an image", "MAX_PICTURES", PREVIEW, "further images are left out"),
      customer(
        "Images shown inside one preview",
        "MAX_INLINE_BYTES",
        "apps/server/src/http/pages/PreviewPages.ts",
        "further images are left out",
      ),
      customer(
        "Bytes of attachments that one request names by URL",
        "MAX_REMOTE_BYTES",
        REMOTE,
        "422 at `/compat/resend`",
      ),
      customer("Attachments that one request names by URL", "MAX_REMOTE_FILES", REMOTE, "422 at `/compat/resend`"),
      customer(
        "Time for an attachment to arrive from its URL",
        "REMOTE_FILE_TIMEOUT",
        REMOTE,
        "422 at `/compat/resend`",
      ),
      customer(
        "Characters of a `scheduled_at` in words",
        "MAX_TIME_CHARS",
        "apps/server/src/compat/resend/emails/Message.ts",
        "400 at `/compat/resend`",
      ),
      internal("Recipients in a request of SendGrid", "MAX_RECIPIENTS", SENDGRID, "400"),
      customer("Redirects to an attachment", "MAX_REDIRECTS", REMOTE, "422 at `/compat/resend`"),
      operator("Attachments fetched at the same time per process", "MAX_CONCURRENT_FETCHES", REMOTE, "the next wait"),
      customer(
        "Attachments of an account fetched at the same time",
        "MAX_FETCHES_PER_ACCOUNT",
        REMOTE,
        "the next wait",
      ),
      customer(
        "Time that a link to an attachment works",
        "ATTACHMENT_LINK_LIFETIME",
        "apps/server/src/links/AttachmentLinks.ts",
        "404",
      ),
      customer(
        "Addresses or ids in one call of Resend's suppressions",
        "MAX_SUPPRESSIONS",
        "apps/server/src/compat/resend/Suppressions.ts",
        "400 at `/compat/resend`",
      ),
      customer("Event streams per account and process", "MAX_STREAMS_PER_ACCOUNT", FEED, "422 `too_many_streams`"),
      operator(
        "Stored bytes that a stream reads in one step, of 100 events at most",
        "STREAM_PAGE_BYTES",
        FEED,
        "the rest follows when the client has read them",
      ),
      customer("Time of an event stream", "MAX_STREAM", FEED, "it ends; the client connects again"),
      customer(
        "Requests that wait for events per account and process",
        "MAX_WAITING_PER_ACCOUNT",
        "apps/server/src/live/FeedReaders.ts",
        "answered at once",
      ),
      operator("Requests that wait for events per process", "MAX_WAITING", FEED, "answered at once"),
      customer(
        "Recorded opens and clicks per address, minute and process",
        "MAX_VISITS_PER_MINUTE",
        VISITS,
        "not recorded; links still redirect",
      ),
      internal("Unsubscribe requests per message and minute", "MAX_UNSUBSCRIBES_PER_MINUTE", UNSUBSCRIBE, "429"),
    ],
  },
  {
    title: "Sign-in",
    bounds: [
      customer(
        "Attempts to sign in, to enter a code, or to use a link: each per address and minute",
        "TRIES_PER_MINUTE",
        SIGN_IN,
        "429 `too_many_tries`",
      ),
      customer("Wrong codes in a row", "MAX_WRONG_CODES", AUTH, "429 `account_temporarily_locked` for 15 minutes"),
      customer("A password, at least", "MIN_PASSWORD_CHARS", SIGN_IN, "400"),
      customer("A password, at most", "MAX_PASSWORD_CHARS", SIGN_IN, "400"),
      customer("Sessions of a user", "MAX_SESSIONS", "packages/store/src/users/Users.ts", "the oldest ends"),
      customer("A session that is not used", "SESSION_DAYS", AUTH, "it ends"),
      customer("A link that sets a password", "LINK_HOURS", SIGN_IN, "it no longer works"),
    ],
  },
  {
    title: "MCP server",
    bounds: [
      internal("A request over HTTP", "MAX_REQUEST_BYTES", MCP, "413"),
      internal(
        "A message on standard input",
        "MAX_MESSAGE_BYTES",
        "apps/server/src/mcp/overStdio.ts",
        "the server ends",
      ),
      internal("All headers of a request", "MAX_HEADER_BYTES", MCP, "431"),
      internal("Connections", "MAX_CONNECTIONS", MCP, "the oldest one without the token is closed"),
      internal("Time for the headers of a request", "HEADERS_TIMEOUT_MS", MCP, "408"),
      internal("Time for a request", "REQUEST_TIMEOUT_MS", MCP, "408"),
      internal("Open subscriptions", "MAX_SUBSCRIPTIONS", MCP, "refused"),
    ],
  },
  {
    title: "SMTP submission",
    bounds: [
      operator("Connections per process", "MAX_CONNECTIONS", SUBMISSION, "421"),
      customer("Connections per address", "MAX_CONNECTIONS_PER_ADDRESS", SUBMISSION, "421"),
      operator(
        "Connections without a login per process",
        "MAX_UNIDENTIFIED",
        SUBMISSION,
        "the oldest idle one is closed with 421",
      ),
      customer("Connections without a login per address", "MAX_UNIDENTIFIED_PER_ADDRESS", SUBMISSION, "421"),
      customer("Time from connecting to the login", "LOGIN_WITHIN", SUBMISSION, "421, closed"),
      customer(
        "Time from connecting to the login, when connections are scarce",
        "LOGIN_WITHIN_CROWDED",
        SUBMISSION,
        "421, closed",
      ),
      operator("TLS handshakes per second", "HANDSHAKES_PER_SECOND", HANDSHAKES, "they wait"),
      customer("Logins on a connection", "MAX_LOGIN_ATTEMPTS", SUBMISSION_CONNECTION, "421, closed"),
      customer("Time without a command", "IDLE", SUBMISSION, "421, closed"),
      customer("Time to send a message", "MESSAGE_WITHIN", SUBMISSION, "421, closed"),
      customer("Recipients of an envelope", "MAX_RECIPIENTS", SUBMISSION, "452"),
      customer(
        "Refused recipients on a connection",
        "MAX_REFUSED_RECIPIENTS",
        "apps/server/src/smtp/Listener.ts",
        "421",
      ),
      operator("Messages in progress per listener", "MAX_BYTES_HELD", "apps/server/src/smtp/Intake.ts", "452"),
      customer("Parts of a message", "MAX_PARTS", SUBMITTED, "552"),
      customer("Depth of parts", "MAX_DEPTH", MIME, "552"),
      customer("Headers of all parts", "MAX_HEADER_BYTES", MIME, "552"),
      customer("Addresses in the headers", "MAX_ADDRESSES", SUBMITTED, "552"),
    ],
  },
  {
    title: "Incoming reports",
    bounds: [
      operator("Connections per process", "MAX_CONNECTIONS", REPORTS, "421"),
      internal("Connections per address", "MAX_CONNECTIONS_PER_ADDRESS", REPORTS, "421"),
      internal(
        "Connections without an accepted recipient per process",
        "MAX_UNIDENTIFIED",
        REPORTS,
        "the oldest idle one is closed",
      ),
      internal("Connections without an accepted recipient per address", "MAX_UNIDENTIFIED_PER_ADDRESS", REPORTS, "421"),
      internal("Time of a connection", "CONNECTED_WITHIN", REPORTS, "421, closed"),
      internal("Time to send a report", "MESSAGE_WITHIN", REPORTS, "421, closed"),
      operator("A report", "MAX_MESSAGE_BYTES", REPORTS, "552"),
      operator("Bytes of a report that are read", "REPORT_SIZE_LIMIT", REPORT, "the rest is not read"),
      internal("Lines of a report that are read", "REPORT_LINES_LIMIT", REPORT, "the rest is not read"),
      internal("Parts of a report", "REPORT_PARTS_LIMIT", REPORT, "250, dropped"),
      operator("A call of a mail provider", "MAX_CALL_BYTES", HOOKS, "413"),
      operator("Calls of mail providers that are checked at once", "CALLS_AT_ONCE", HOOKS, "they wait"),
      operator("Calls of one hook that are checked at once", "CALLS_PER_HOOK", HOOKS, "they wait"),
      operator("Calls of mail providers in memory", "MAX_CALL_BYTES_HELD", HOOKS, "503"),
      operator("Calls of one address in memory", "MAX_CALL_BYTES_HELD_PER_ADDRESS", HOOKS, "503"),
      internal("A request for an access token", "MAX_REQUEST_BYTES", "apps/server/src/providers/AccessToken.ts", "413"),
      operator(
        "Events of a provider about no known message that are kept",
        "MAX_UNMATCHED",
        "packages/store/src/providers/ProviderEvents.ts",
        "dropped",
      ),
      operator("Unread reports kept per account", "MAX_UNREAD_PER_ACCOUNT", UNREAD, "451"),
      operator("Unread reports kept, in bytes", "MAX_UNREAD_BYTES", UNREAD, "451"),
      operator("Time for which an unread report is kept", "KEPT_DAYS", UNREAD, "it is removed"),
      operator("Processor time of `waybill reports retry`", "RETRY_DEADLINE_MS", RETRY, "the report stays unread"),
      operator("Memory of `waybill reports retry`", "RETRY_MEMORY_MB", RETRY, "the report stays unread"),
      internal("Depth of the parts of a report", "MAX_DEPTH", MIME, "250, dropped"),
      internal("Headers of a report", "MAX_HEADER_BYTES", MIME, "250, dropped"),
    ],
  },
  ...reportBounds,
  {
    title: "Parsing of mail, HTML and reports",
    bounds: [
      customer(
        "Processor time of one document",
        "DEADLINE_MS",
        POOL,
        "parsing stops: 554, 422 `message_unreadable`, delivery without a text part or tracking, or a report that is kept unread",
      ),
      customer("Further processor time for each MiB", "DEADLINE_MS_PER_MB", POOL, "parsing stops"),
      customer("Memory of one document", "THREAD_MEMORY_MB", POOL, "parsing stops"),
      internal("Threads", "MAX_THREADS", POOL, "documents wait"),
      customer(
        "Waiting documents per account and process",
        "MAX_WAITING_PER_ACCOUNT",
        POOL,
        "451 over SMTP, 503 over HTTP",
      ),
      operator("Waiting documents per process", "MAX_WAITING", POOL, "451 over SMTP, 503 over HTTP"),
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
      internal(
        "Unread replies of an SMTP server",
        "MAX_UNREAD_BYTES",
        "packages/mail/src/smtp/SmtpWire.ts",
        "the session ends",
      ),
      internal("Time of an MTA-STS request", "FETCH_TIMEOUT_MS", POLICY_FETCH, "the former policy holds"),
      internal("All bytes that a policy host sends", "FETCH_WIRE_BYTES", POLICY_FETCH, "the former policy holds"),
      internal(
        "Interim answers (1xx) to one request",
        "MAX_INTERIM_ANSWERS",
        "packages/mail/src/dns/AnswerBudget.ts",
        "the request is given up",
      ),
      internal("An MTA-STS policy", "POLICY_BYTES", POLICY, "it is ignored"),
      internal("Server names in a policy, together", "MX_CHARS", POLICY, "it is ignored"),
      internal("Policies in memory", "DOMAINS", POLICY, "the oldest is removed"),
      internal(
        "Policies in the database",
        "MAX_POLICIES",
        "packages/store/src/outbox/MtaStsPolicies.ts",
        "the least recently used are removed",
      ),
      internal(
        "Simultaneous requests when policies are renewed",
        "MAX_FETCHES",
        "apps/server/src/worker/periodic/refreshPolicies.ts",
        "they wait",
      ),
      internal(
        "Records of an answer of the trusted resolver",
        "MAX_RECORDS",
        "packages/mail/src/dane/DnsMessage.ts",
        "the answer is unreadable, mail waits",
      ),
      internal("Servers whose DANE trust anchors are in memory", "MAX_SERVERS", PEER, "the oldest is removed"),
      internal("DANE trust anchors of a server", "MAX_ANCHORS", PEER, "the oldest is removed"),
      internal("A DNS query", "LOOKUP_TIMEOUT_MS", "packages/mail/src/dns/Dns.ts", "unavailable, tried again later"),
    ],
  },
]
