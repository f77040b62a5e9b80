import { ofPlans, volumeBounds } from "./volumeBounds.ts"
import { customer, type Group, operator } from "./Bound.ts"

const ENGAGEMENT = "apps/server/src/compat/postmark/messages/Engagement.ts"
const POSTMARK_LISTS = "apps/server/src/compat/postmark/Paging.ts"
const SENDGRID_NAMES = "apps/server/src/compat/sendgrid/Substitutions.ts"
const POSTMARK_DUMP = "apps/server/src/compat/postmark/Suppressions.ts"
const STOP = "apps/server/src/process/Stop.ts"
const PIPELINE = "apps/server/src/worker/Pipeline.ts"
const JUDGE = "apps/server/src/worker/delivery/evaluateAttempts.ts"
const DELIVER = "apps/server/src/worker/delivery/attemptDelivery.ts"
const TURNS = "apps/server/src/worker/webhooks/EndpointTurns.ts"
const CALLS = "apps/server/src/worker/webhooks/WebhookPipeline.ts"
const PLANS = "packages/domain/src/account/Plan.ts"
const ACCEPTANCE = "packages/domain/src/email/Acceptance.ts"
const ADDRESS = "packages/domain/src/values/Address.ts"
const HEADER = "packages/domain/src/email/Header.ts"
const ACCOUNT = "packages/domain/src/account/Account.ts"
const WEBHOOK = "packages/domain/src/webhook/Webhook.ts"
const MESSAGE = "packages/api/src/schemas/EmailMessage.ts"
const EVENTS = "packages/api/src/groups/history/Events.ts"
const LISTS = "packages/api/src/schemas/Page.ts"
const SEARCH = "packages/api/src/schemas/EmailSearch.ts"
const STATS = "packages/api/src/groups/Stats.ts"

/** Bounds of the product: what a plan, a message, an account or an installation may have. */
export const productBounds: ReadonlyArray<Group> = [
  volumeBounds,
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
      customer(
        "Addresses of a request to `POST /v1/suppressions/batch`",
        "MAX_BATCH",
        "packages/api/src/groups/Suppressions.ts",
        "400",
      ),
      customer(
        "Addresses that an account suppresses or releases within a UTC day",
        "MAX_CHANGES_PER_DAY",
        "packages/domain/src/suppression/SuppressionRefusal.ts",
        "429 `suppression_changes`",
      ),
      customer("An address", "MAX_ADDRESS_OCTETS", ADDRESS, "400"),
      customer("`subject`", "MAX_SUBJECT_CHARS", HEADER, "400"),
      customer("Custom headers", "MAX_HEADERS", HEADER, "400"),
      customer("The value of a custom header", "MAX_HEADER_VALUE_CHARS", HEADER, "400"),
      customer("Attachments", "MAX_ATTACHMENTS", "packages/domain/src/email/Content.ts", "400"),
      customer("The file name of an attachment", "MAX_FILENAME_CHARS", MESSAGE, "400"),
      customer("Tags", "MAX_TAGS", "packages/domain/src/email/Labels.ts", "400"),
      customer("A tag", "MAX_TAG_CHARS", "packages/domain/src/email/Labels.ts", "400"),
      customer("Pairs of metadata", "MAX_METADATA", "packages/domain/src/email/Labels.ts", "400"),
      customer("The name of a pair", "MAX_METADATA_NAME_CHARS", "packages/domain/src/email/Labels.ts", "400"),
      customer("The value of a pair", "MAX_METADATA_VALUE_CHARS", "packages/domain/src/email/Labels.ts", "400"),
      customer("Messages in a batch", "MAX_BATCH", "packages/api/src/schemas/send/Batch.ts", "400"),
      customer(
        "Messages in a batch of `/compat/postmark`",
        "MAX_MESSAGES",
        "apps/server/src/compat/postmark/PostmarkMessage.ts",
        "422",
      ),
      customer(
        "Messages of one second among which a bounce of `/compat/postmark` is looked for",
        "MAX_SEARCHED",
        "apps/server/src/compat/postmark/Bounces.ts",
        "422",
      ),
      customer("`Idempotency-Key`", "MAX_KEY_CHARS", "packages/api/src/schemas/Idempotency.ts", "400"),
      customer(
        "Time for which an idempotency key is kept",
        "IDEMPOTENCY_TTL_MS",
        "packages/store/src/idempotency/IdempotencyRef.ts",
        "the key can be used for another message",
      ),
      customer("`scheduled_at` in the past", "MAX_SCHEDULE_PAST_MS", ACCEPTANCE, "422 `scheduled_at_out_of_range`"),
      customer("`scheduled_at` in the future", "MAX_SCHEDULE_AHEAD_MS", ACCEPTANCE, "422 `scheduled_at_out_of_range`"),
      customer(
        "Changes of `scheduled_at` of one message",
        "MAX_RESCHEDULES",
        "packages/domain/src/email/Email.ts",
        "422 `rescheduled_too_often`",
      ),
    ],
  },
  {
    title: "Delivery",
    bounds: [
      customer("Time of one delivery attempt", "ATTEMPT_LIMIT", DELIVER, "the attempt is recorded as lost"),
      customer(
        "Time from due, while a site asks for later attempts and none is counted",
        "DEFERRED_LIMIT",
        JUDGE,
        "the recipient fails",
      ),
      customer(
        "Time from due, while a message only waits for a site that limits other mail",
        "UNATTEMPTED_LIMIT",
        JUDGE,
        "the recipient fails",
      ),
      operator("Deliveries in progress per process", "MAX_IN_FLIGHT", PIPELINE, "due messages wait"),
      operator(
        "Connections per process to a relay",
        "RELAY_CONNECTIONS",
        "packages/mail/src/transport/RelayTransport.ts",
        "messages wait",
      ),
      operator(
        "Connections per process to a receiving site, until it has shown what it accepts",
        "DEFAULT_CONNECTIONS",
        "packages/mail/src/site/SiteRules.ts",
        "messages wait",
      ),
    ],
  },
  {
    title: "Tracking",
    bounds: [
      customer(
        "Tracked links of a message",
        "MAX_TRACKED_LINKS",
        "packages/mail/src/compose/TrackedHtml.ts",
        "further links are not tracked",
      ),
      customer(
        "The URL of a tracked link",
        "MAX_TRACKED_URL_CHARS",
        "packages/mail/src/compose/TrackedLink.ts",
        "the link is not tracked",
      ),
      customer(
        "Recorded opens, and recorded clicks, of a message",
        "MAX_TRACKED_EVENTS",
        "packages/domain/src/email/EmailReport.ts",
        "not recorded; links still redirect",
      ),
    ],
  },
  {
    title: "Reading",
    bounds: [
      customer("`limit` of a list", "MAX_LIMIT", LISTS, "400"),
      customer("`limit` of `GET /v1/events`", "MAX_EVENTS", EVENTS, "400"),
      customer(
        "Stored bytes of a page of events or emails",
        "MAX_PAGE_BYTES",
        "packages/store/src/feed/PageBytes.ts",
        "the page ends early, the rest is on the next page",
      ),
      customer("Length of `q`, a text to search for", "MAX_QUERY_CHARS", SEARCH, "400"),
      customer("Reply codes in `code`", "MAX_CODES", "packages/domain/src/search/ReplyCode.ts", "400"),
      customer(
        "Emails that `count=true` counts",
        "MAX_COUNTED",
        "packages/store/src/search/EmailLogQuery.ts",
        "`is_exact` is false: there are more",
      ),
      customer(
        "Names of metadata with which a search looks up a value alone",
        "MAX_NAMES",
        "packages/store/src/search/EmailWords.ts",
        "the first by the alphabet; `metadata:name=value` finds the others",
      ),
      customer("Period of `GET /v1/stats`", "MAX_STATS_DAYS", STATS, "400"),
      customer("Period of `GET /v1/stats` by hour", "MAX_HOURLY_STATS_DAYS", STATS, "400"),
      customer("`wait` for mail of the sandbox", "MAX_WAIT_SECONDS", "packages/api/src/groups/Sandbox.ts", "400"),
      customer("`wait` for events", "MAX_WAIT_SECONDS", EVENTS, "400"),
      customer(
        "Time that a receipt waits for the signature of its last events",
        "SIGNED_WITHIN",
        "apps/server/src/receipts/Receipt.ts",
        "422 `receipt_pending`",
      ),
    ],
  },
  {
    title: "Accounts",
    bounds: [
      customer(
        "Active API keys",
        "MAX_ACTIVE_KEYS",
        "packages/domain/src/account/ApiKey.ts",
        "422 `too_many_api_keys`",
      ),
      customer("`allowed_ips` of an API key", "MAX_ALLOWED_IPS", "packages/domain/src/account/ApiKey.ts", "400"),
      customer("Domains", "MAX_DOMAINS", "packages/domain/src/domain/Domain.ts", "422 `too_many_domains`"),
      customer(
        "Names set as the tracking domain of a domain in 24 hours",
        "MAX_CHANGES_PER_DAY",
        "packages/domain/src/domain/TrackingDomain.ts",
        "422 `too_many_tracking_domains`",
      ),
      customer(
        "Time for DNS to show the records of a domain, and time for which they may be missing",
        "GRACE_MS",
        "packages/domain/src/domain/DomainSchedule.ts",
        "the domain is `failed`",
      ),
      customer("Members", "MAX_MEMBERS", "packages/domain/src/account/TeamRefusal.ts", "422 `too_many_members`"),
      operator("Days for which content is kept, by default", "DEFAULT_RETENTION_DAYS", ACCOUNT, "content is deleted"),
      operator("Days for which content is kept, at most", "MAX_RETENTION_DAYS", ACCOUNT, "refused"),
      operator("Days for which histories are kept, at least, where they expire", "MIN_LOG_DAYS", ACCOUNT, "refused"),
      operator("Days for which histories are kept, at most, where they expire", "MAX_LOG_DAYS", ACCOUNT, "refused"),
      operator(
        "Days for which webhook deliveries are kept, by default",
        "DEFAULT_DELIVERY_DAYS",
        ACCOUNT,
        "they are deleted",
      ),
      operator("Days for which webhook deliveries are kept, at least", "MIN_DELIVERY_DAYS", ACCOUNT, "refused"),
      operator("Days for which webhook deliveries are kept, at most", "MAX_DELIVERY_DAYS", ACCOUNT, "refused"),
    ],
  },
  {
    title: "Webhooks",
    bounds: [
      customer("Webhooks of an account", "MAX_WEBHOOKS", WEBHOOK, "422 `too_many_webhooks`"),
      customer("Event types of a webhook", "MAX_EVENTS", "packages/api/src/groups/Webhooks.ts", "400"),
      customer("The URL of a webhook", "MAX_URL_CHARS", "packages/domain/src/webhook/WebhookUrl.ts", "400"),
      customer("Time for which a rotated secret still signs", "SECRET_OVERLAP_MS", WEBHOOK, "it signs no more"),
      customer("Time without one successful call", "FAILING_LIMIT_MS", WEBHOOK, "the webhook is disabled"),
      customer(
        "Events of one range replay",
        "MAX_REPLAY_EVENTS",
        "packages/store/src/webhooks/WebhookReplays.ts",
        "continue at `next_position`",
      ),
      customer(
        "Simultaneous calls per process of an endpoint that answers",
        "MAX_CALLS_PER_WEBHOOK",
        TURNS,
        "calls wait",
      ),
      customer(
        "Simultaneous calls per process of an endpoint that does not answer",
        "MIN_CALLS_PER_WEBHOOK",
        TURNS,
        "calls wait",
      ),
      operator("Simultaneous calls per process of all endpoints", "MAX_CALLS", CALLS, "calls wait"),
    ],
  },
  {
    title: "Installation",
    bounds: [
      operator(
        "`MAX_BODY_BYTES`, at most",
        "LARGEST_MAX_BODY_BYTES",
        "apps/server/src/settings/HttpSettings.ts",
        "the process does not start",
      ),
      operator(
        "`STATS_MONTHS`, by default",
        "DEFAULT_STATS_MONTHS",
        "apps/server/src/settings/DatabaseSettings.ts",
        "older statistics are dropped",
      ),
      operator(
        "`STATS_MONTHS`, at least",
        "MIN_STATS_MONTHS",
        "apps/server/src/settings/DatabaseSettings.ts",
        "the process does not start",
      ),
      operator(
        "`STATS_MONTHS`, at most",
        "MAX_STATS_MONTHS",
        "apps/server/src/settings/DatabaseSettings.ts",
        "the process does not start",
      ),
      operator(
        "`DATABASE_CONNECTIONS`, by default",
        "DEFAULT_CONNECTIONS",
        "packages/store/src/database/Database.ts",
        "statements wait for a connection",
      ),
      operator(
        "Time that a request waits for a database that does not answer, by default",
        "DEFAULT_TIMEOUT",
        "packages/store/src/availability/Availability.ts",
        "503 `unavailable`, or 500 `outcome_unknown`",
      ),
      operator(
        "`DATABASE_TIMEOUT` in seconds, at most",
        "MAX_DATABASE_TIMEOUT_SECONDS",
        "apps/server/src/settings/DatabaseSettings.ts",
        "the process does not start",
      ),
      operator("Time of an orderly stop", "LATEST_STOP", STOP, "the process ends with 1"),
      operator(
        "Time for which commits wait at most for a database that restarts or fails over",
        "PATIENCE_MS",
        "packages/store/src/commit/CommitBatch.ts",
        "503 `unavailable`, or 500",
      ),
    ],
  },
  {
    title: "APIs of Postmark and SendGrid",
    bounds: [
      customer("Entries in a list of Postmark", "MAX_COUNT", POSTMARK_LISTS, "422, 300"),
      customer(
        "Emails that a list of Postmark searches, which bounds `count` and `offset` together",
        "MAX_REACH",
        POSTMARK_LISTS,
        "422, 300",
      ),
      customer("Opens or clicks in a list of Postmark", "MAX_EVENTS", ENGAGEMENT, "422, 300"),
      customer(
        "Body of a request with Postmark's test token",
        "MAX_TRIAL_BYTES",
        "apps/server/src/compat/doors/DoorRequests.ts",
        "413",
      ),
      customer(
        "Messages in a batch with Postmark's test token",
        "MAX_TRIAL_MESSAGES",
        "apps/server/src/compat/postmark/Emails.ts",
        "422, 410",
      ),
      customer("Suppressions in a dump of Postmark", "MAX_DUMP", POSTMARK_DUMP, "422, 300"),
      customer(
        "Personalizations of a request of SendGrid",
        "MAX_PERSONALIZATIONS",
        "apps/server/src/compat/sendgrid/SendGridMessage.ts",
        "400",
      ),
      customer("Different names that these replace, by `substitutions`", "MAX_NAMES", SENDGRID_NAMES, "400"),
      customer("Characters of such a name", "MAX_NAME_CHARS", SENDGRID_NAMES, "400"),
      customer("Places in a text where a name is replaced", "MAX_PLACES", SENDGRID_NAMES, "400"),
      customer(
        "Batches of emails that are paused or canceled at a time",
        "MAX_CHANGED",
        "packages/domain/src/account/SendBatch.ts",
        "400",
      ),
      customer(
        "Time that an email of a paused batch waits beyond its own",
        "MAX_PAUSE_MS",
        "apps/server/src/worker/delivery/stopByBatch.ts",
        "it is canceled",
      ),
      customer(
        "Bytes that the personalizations of a request of SendGrid share, times their number up to 100, unless `MAX_BODY_BYTES` is set",
        "DEFAULT_MAX_BODY_BYTES",
        "apps/server/src/settings/HttpSettings.ts",
        "413",
      ),
    ],
  },
]
