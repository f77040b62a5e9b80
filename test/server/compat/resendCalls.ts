/** A call of the package `resend`, and its result at /compat/resend. */
export interface ResendCall {
  /** The method below an instance of `Resend`. */
  readonly call: string
  /** `works`, or the sentence of the refusal. */
  readonly gives: string
  /** How a call that works differs from Resend's. */
  readonly but?: string
}

const works = (call: string, but?: string): ResendCall => ({
  call,
  gives: "works",
  ...(but === undefined ? {} : { but }),
})

const refused = (gives: string, prefix: string, ...methods: ReadonlyArray<string>): ReadonlyArray<ResendCall> =>
  methods.map((method) => ({ call: `${prefix}.${method}`, gives }))

const LISTS =
  "Waybill has no contacts, audiences, segments or topics. Keep recipients in your own database and send to them."
const INBOXES =
  "Waybill has no inboxes in this form. Received mail is at /emails/receiving, and threads are at GET /v1/threads."
const CLAIMS = "Waybill has no claims of domains. Create the domain and publish its records."
const BROADCASTS = "Waybill has no broadcasts: it sends transactional mail only. Send to each recipient."
const AUTOMATIONS = "Waybill has no automations. Send each email from your program, with `scheduled_at` to delay it."
const EVENTS = "Waybill has no custom events. Send the email from your program instead."
const LOGS = "Waybill has no logs in this form. Its log of API requests is at GET /v1/requests."
const GRANTS = "Waybill has no OAuth grants. Programs use API keys."

const SENT = "`topicId` is refused; `template` is named by its id or alias"
const TYPES =
  "takes the types of emails, of suppressions and of domains; `email.sent` and `email.scheduled` come together"

/** Every method of the package, in its order of names. */
export const CALLS: ReadonlyArray<ResendCall> = [
  works("apiKeys.create", "`full_access` is the scope `admin`, `sending_access` is `email:send`"),
  works("apiKeys.list"),
  works("apiKeys.remove"),
  ...refused("Waybill has no change of an API key. Create another key and remove this one.", "apiKeys", "update"),
  ...refused(LISTS, "audiences", "create", "get", "list", "remove", "update"),
  ...refused(AUTOMATIONS, "automations", "create", "duplicate", "get", "list", "remove", "runs.get", "runs.list"),
  ...refused(AUTOMATIONS, "automations", "stop", "update"),
  works("batch.create", SENT),
  works("batch.send", SENT),
  ...refused(BROADCASTS, "broadcasts", "cancel", "clickedLinks", "create", "duplicate", "get", "list", "recipients"),
  ...refused(BROADCASTS, "broadcasts", "remove", "send", "update"),
  ...refused(LISTS, "contactProperties", "create", "get", "list", "remove", "update"),
  ...refused(LISTS, "contacts", "create", "get", "imports.create", "imports.get", "imports.list", "list", "remove"),
  ...refused(LISTS, "contacts", "segments.add", "segments.list", "segments.remove", "topics.list", "topics.update"),
  ...refused(LISTS, "contacts", "update"),
  ...refused(CLAIMS, "domains.claims", "create", "get", "verify"),
  works(
    "domains.create",
    "`region` and `customReturnPath` have no effect; enforced TLS is refused; `records` leaves DMARC out",
  ),
  works("domains.get", "`records` leaves DMARC out"),
  works("domains.list"),
  works("domains.remove"),
  works("domains.update", "enforced TLS is refused"),
  works("domains.verify"),
  works("emails.attachments.get", "`download_url` works for one hour"),
  works("emails.attachments.list", "`download_url` works for one hour"),
  works("emails.cancel"),
  works("emails.create", SENT),
  works("emails.get"),
  works("emails.list"),
  ...refused("Waybill has no metrics in this form. Its statistics are at GET /v1/stats.", "emails", "metrics"),
  works("emails.receiving.attachments.get", "`download_url` works for one hour"),
  works("emails.receiving.attachments.list", "`download_url` works for one hour"),
  works("emails.receiving.forward", "the package downloads the mail and sends it as an email of its own"),
  works("emails.receiving.get", "`raw.download_url` works for one hour"),
  works("emails.receiving.list"),
  works("emails.send", SENT),
  ...refused("Waybill has no links that share an email.", "emails", "share"),
  works("emails.update"),
  ...refused(EVENTS, "events", "create", "get", "list", "remove", "send", "update"),
  ...refused(INBOXES, "inboxes", "agent.get", "agent.update", "create"),
  ...refused(INBOXES, "inboxes.drafts", "create", "get", "list", "remove", "send", "update"),
  ...refused(INBOXES, "inboxes", "get", "labels.create", "labels.list", "labels.remove", "labels.update"),
  ...refused(INBOXES, "inboxes", "list", "remove"),
  ...refused(INBOXES, "inboxes.threads.emails", "forward", "get", "list", "reply"),
  ...refused(INBOXES, "inboxes.threads", "get", "labels.add", "labels.remove", "labels.set", "list", "remove"),
  ...refused(INBOXES, "inboxes.threads", "search", "update"),
  ...refused(INBOXES, "inboxes", "update"),
  ...refused(LOGS, "logs", "get", "list"),
  ...refused(GRANTS, "oauthGrants", "list", "revoke"),
  ...refused(LISTS, "segments", "create", "get", "list", "remove", "update"),
  works("suppressions.add"),
  works("suppressions.batch.add", "at most 100 addresses"),
  works("suppressions.batch.remove", "at most 100 addresses or ids"),
  works("suppressions.get"),
  works("suppressions.list", "`before` is refused"),
  works("suppressions.remove"),
  works("templates.create", "variables are escaped in HTML"),
  works("templates.duplicate"),
  works("templates.get"),
  works("templates.list"),
  works("templates.publish"),
  works("templates.remove", "it is archived"),
  works("templates.update"),
  ...refused(LISTS, "topics", "create", "get", "list", "remove", "update"),
  works("usage.get", "counts and limits of what Waybill does not have are 0"),
  works("webhooks.create", TYPES),
  works("webhooks.events.attempts.list", "an attempt without a response has the status 0"),
  works("webhooks.events.get"),
  works("webhooks.events.list"),
  works("webhooks.events.replay"),
  works("webhooks.get", "`signing_secret` is null: it is shown at creation and rotation only"),
  works("webhooks.list"),
  works("webhooks.remove"),
  works("webhooks.rotateSigningSecret", "the old secret signs too for 24 hours"),
  works("webhooks.update", TYPES),
  works("webhooks.verify"),
]
