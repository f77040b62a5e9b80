import { customer, type Group, operator } from "./Bound.ts"
import { reportBounds } from "./reportBounds.ts"

const NODE = "apps/server/src/http/NodeServer.ts"
const CONNECTIONS = "apps/server/src/requests/Connections.ts"
const BODIES = "apps/server/src/web/Bodies.ts"
const LARGE = "apps/server/src/http/middleware/LargeRequests.ts"
const ANSWERS = "apps/server/src/http/middleware/LargeResponses.ts"
const REMOTE = "apps/server/src/compat/RemoteFile.ts"
const DOCUMENTS = "apps/server/src/http/pages/DocumentWindows.ts"
const JSON_SHAPE = "apps/server/src/requests/BodyScan.ts"
const AUTH = "apps/server/src/signIn/BetterAuth.ts"
const SIGN_IN = "apps/server/src/signIn/Options.ts"
const SUBMISSION = "apps/server/src/smtp/Submission.ts"
const SUBMISSION_SESSION = "apps/server/src/smtp/session/Session.ts"
const MAIL_LISTENER = "apps/server/src/smtp/MailListener.ts"
const HOOKS = "apps/server/src/providers/HookRoutes.ts"
const UNREAD = "packages/store/src/content/UnreadReports.ts"
const HANDSHAKES = "apps/server/src/smtp/Handshakes.ts"
const FEED = "apps/server/src/live/EventFeed.ts"
const VISITS = "apps/server/src/links/Visits.ts"
const CALL = "apps/server/src/worker/webhooks/WebhookCaller.ts"
const EXCHANGE = "apps/server/src/worker/webhooks/WebhookExchange.ts"
const POOL = "packages/mail/src/parsing/ParserPool.ts"
const SUBMITTED = "packages/mail/src/report/readSubmitted.ts"
const RATES = "packages/domain/src/account/RateLimit.ts"

/** Bounds that stop an attacker and that a customer or an operator can reach. */
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
      customer("Searches of the documentation per address and minute", "SEARCHES_PER_MINUTE", DOCUMENTS, "429"),
      operator("Searches of the documentation per process and minute", "ALL_SEARCHES_PER_MINUTE", DOCUMENTS, "429"),
      customer("Bytes of documents per address and minute", "DOCUMENT_BYTES_PER_MINUTE", DOCUMENTS, "429"),
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
      customer("All headers of a request", "MAX_HEADER_BYTES", NODE, "400 `headers_too_large`"),
      customer(
        "Requests that wait on a connection for the answer before them",
        "MAX_WAITING_REQUESTS",
        "apps/server/src/http/Pipelining.ts",
        "closed",
      ),
      customer("Time to send the headers", "HEADERS_TIMEOUT_MS", NODE, "400 `request_timeout`, closed"),
      customer("Time to send the whole request", "REQUEST_TIMEOUT_MS", NODE, "400 `request_timeout`, closed"),
      customer(
        "A request body, where `MAX_BODY_BYTES` is not set",
        "DEFAULT_MAX_BODY_BYTES",
        "apps/server/src/settings/HttpSettings.ts",
        "400 `payload_too_large`",
      ),
      customer("JSON values in a request", "MAX_VALUES", JSON_SHAPE, "400 `payload_too_large`"),
      customer("Depth of the JSON of a request", "MAX_DEPTH", JSON_SHAPE, "400 `payload_too_large`"),
      customer("Fields of an object in a request", "MAX_FIELDS", JSON_SHAPE, "400 `payload_too_large`"),
      customer(
        "Requests without a valid key per address and minute",
        "ANONYMOUS_PER_MINUTE",
        RATES,
        "429 `request_rate`",
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
      customer("Event streams per account and process", "MAX_STREAMS_PER_ACCOUNT", FEED, "422 `too_many_streams`"),
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
      customer("Sessions of a user", "MAX_SESSIONS", "packages/store/src/users/Users.ts", "the oldest ends"),
      customer("A session that is not used", "SESSION_DAYS", AUTH, "it ends"),
      customer("A link that sets a password", "LINK_HOURS", SIGN_IN, "it no longer works"),
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
      operator("TLS handshakes per second", "HANDSHAKES_PER_SECOND", HANDSHAKES, "they wait"),
      customer("Logins on a connection", "MAX_LOGIN_ATTEMPTS", SUBMISSION_SESSION, "421, closed"),
      customer(
        "Commands since the last message, without new recipients and chunks, also on the mail port",
        "MAX_COMMANDS_WITHOUT_MESSAGE",
        SUBMISSION_SESSION,
        "421, closed",
      ),
      customer("Time without a command", "IDLE", SUBMISSION, "421, closed"),
      customer("Time to send a message", "MESSAGE_WITHIN", SUBMISSION, "421, closed"),
      customer("Recipients of an envelope", "MAX_RECIPIENTS", SUBMISSION, "452"),
      operator("Messages in progress per listener", "MAX_BYTES_HELD", "apps/server/src/smtp/Intake.ts", "452"),
      customer("Parts of a message", "MAX_PARTS", SUBMITTED, "552"),
    ],
  },
  {
    title: "Incoming reports",
    bounds: [
      operator("Connections per process", "MAX_CONNECTIONS", MAIL_LISTENER, "421"),
      operator("A report", "MAX_MESSAGE_BYTES", MAIL_LISTENER, "552"),
      operator("A call of a mail provider", "MAX_CALL_BYTES", HOOKS, "413"),
      operator("Calls of mail providers that are checked at once", "CALLS_AT_ONCE", HOOKS, "they wait"),
      operator("Calls of mail providers in memory", "MAX_CALL_BYTES_HELD", HOOKS, "503"),
      operator(
        "Events of a provider about no known message that are kept",
        "MAX_UNMATCHED",
        "packages/store/src/providers/ProviderEvents.ts",
        "dropped",
      ),
      operator("Unread reports kept per account", "MAX_UNREAD_PER_ACCOUNT", UNREAD, "451"),
      operator("Unread reports kept, in bytes", "MAX_UNREAD_BYTES", UNREAD, "451"),
      operator("Time for which an unread report is kept", "KEPT_DAYS", UNREAD, "it is removed"),
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
      customer(
        "Waiting documents per account and process",
        "MAX_WAITING_PER_ACCOUNT",
        POOL,
        "451 over SMTP, 503 over HTTP",
      ),
      operator("Waiting documents per process", "MAX_WAITING", POOL, "451 over SMTP, 503 over HTTP"),
    ],
  },
  {
    title: "Servers that Waybill calls",
    bounds: [
      customer("Time of a webhook call", "CALL_TIMEOUT", CALL, "the attempt has failed"),
      customer("The answer of a webhook endpoint", "MAX_ANSWER_BYTES", EXCHANGE, "cut off"),
    ],
  },
]
