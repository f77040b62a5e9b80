import type { Message, ServerClient } from "postmark"

/** What earlier calls made. */
export interface Known {
  /** A message that bounced. */
  readonly bounced: string
  readonly bounce: number
  /** A mail that came in. */
  readonly received: string
}

export interface PostmarkCall {
  readonly call: string
  /** What it does in Waybill; or, for a call that is refused, the status, Postmark's number and the sentence. */
  readonly gives: string
  readonly run: (client: ServerClient, known: Known) => Promise<unknown>
}

export const EMAIL: Message = {
  From: "Acme <hi@acme.test>",
  To: "ana@example.org",
  Subject: "Your receipt",
  TextBody: "Thank you!",
}
const STREAM = "outbound"
const ADDRESS = { Suppressions: [{ EmailAddress: "cy@example.org" }] }
const TEMPLATE = { From: EMAIL.From, To: "ana@example.org", TemplateAlias: "welcome", TemplateModel: { name: "Ana" } }
const WORDS = { Subject: "Hello {{name}}", HtmlBody: "<p>Hello {{name}}</p>" }

const STREAMS = "404, 404: Waybill has no message streams. Leave MessageStream out, or set it to outbound."
const PROGRAMS =
  "404, 404: Waybill does not guess programs. Each open and click has its UserAgent, in the lists of messages."

const rows = (gives: string, calls: Readonly<Record<string, PostmarkCall["run"]>>): ReadonlyArray<PostmarkCall> =>
  Object.entries(calls).map(([call, run]) => ({ call, gives, run }))

/** Every method of the npm package `postmark`, and what each gives at /compat/postmark. */
export const postmarkCalls: ReadonlyArray<PostmarkCall> = [
  { call: "sendEmail", gives: "POST /v1/email/send", run: (client) => client.sendEmail(EMAIL) },
  {
    call: "sendEmailBatch",
    gives: "POST /v1/email/send/batch, at most 500 messages; a result for each",
    run: (client) => client.sendEmailBatch([EMAIL, EMAIL]),
  },
  {
    call: "sendEmail with Tag and Metadata",
    gives: "tags: the tag; metadata: the pairs",
    run: (client) => client.sendEmail({ ...EMAIL, Tag: "receipt", Metadata: { order: "7041" } }),
  },
  {
    call: "sendEmail with MessageStream",
    gives: "422, 1235: `MessageStream` must be `outbound` or left out: Waybill has no message streams.",
    run: (client) => client.sendEmail({ ...EMAIL, MessageStream: "broadcast" }),
  },
  { call: "getServer", gives: "GET /v1/account", run: (client) => client.getServer() },
  {
    call: "getMessageStreams",
    gives: "the streams `outbound` and `inbound`",
    run: (client) => client.getMessageStreams(),
  },
  { call: "getMessageStream", gives: "one of them", run: (client) => client.getMessageStream("outbound") },
  { call: "getOutboundMessages", gives: "GET /v1/email/logs", run: (client) => client.getOutboundMessages() },
  {
    call: "getOutboundMessageDetails",
    gives: "GET /v1/email/logs/{id} and its events",
    run: (client, { bounced }) => client.getOutboundMessageDetails(bounced),
  },
  {
    call: "getBounces",
    gives: "GET /v1/email/logs, the recipients that bounced",
    run: (client) => client.getBounces(),
  },
  {
    call: "getBounce",
    gives: "GET /v1/email/logs, one of the recipients that bounced",
    run: (client, { bounce }) => client.getBounce(bounce),
  },
  {
    call: "activateBounce",
    gives: "DELETE /v1/suppressions/{email}",
    run: (client, { bounce }) => client.activateBounce(bounce),
  },
  {
    call: "createSuppressions",
    gives: "POST /v1/suppressions for each address",
    run: (client) => client.createSuppressions(STREAM, ADDRESS),
  },
  { call: "getSuppressions", gives: "GET /v1/suppressions", run: (client) => client.getSuppressions(STREAM) },
  {
    call: "deleteSuppressions",
    gives: "DELETE /v1/suppressions/{email} for each address",
    run: (client) => client.deleteSuppressions(STREAM, ADDRESS),
  },
  {
    call: "getSuppressions of another stream",
    gives: "422, 1226: Waybill has no message streams. The only one that can be named is `outbound`, not `broadcast`.",
    run: (client) => client.getSuppressions("broadcast"),
  },
  {
    call: "createTemplate",
    gives: "POST /v1/templates and …/publish; words in Mustachio",
    run: (client) => client.createTemplate({ Name: "Welcome", Alias: "welcome", ...WORDS }),
  },
  {
    call: "editTemplate",
    gives: "PATCH /v1/templates/{id} and …/publish",
    run: (client) => client.editTemplate("welcome", { Subject: "Welcome, {{name}}" }),
  },
  { call: "getTemplate", gives: "GET /v1/templates/{id}", run: (client) => client.getTemplate("welcome") },
  { call: "getTemplates", gives: "GET /v1/templates", run: (client) => client.getTemplates() },
  {
    call: "validateTemplate",
    gives: "POST /v1/templates/validate, and what of it is rendered",
    run: (client) => client.validateTemplate(WORDS),
  },
  {
    call: "sendEmailWithTemplate",
    gives: "POST /v1/email/send; `InlineCss` has no effect",
    run: (client) => client.sendEmailWithTemplate(TEMPLATE),
  },
  {
    call: "sendEmailBatchWithTemplates",
    gives: "POST /v1/email/send/batch, at most 500 messages; a result for each",
    run: (client) => client.sendEmailBatchWithTemplates([TEMPLATE]),
  },
  {
    call: "deleteTemplate",
    gives: "DELETE /v1/templates/{id}, which archives it",
    run: (client) => client.deleteTemplate("welcome"),
  },
  ...rows("404, 404: Waybill has no broadcasts: it sends transactional mail only. Send to each recipient.", {
    sendBulkEmail: (client) => client.sendBulkEmail({ From: EMAIL.From, Messages: [] }),
    getBulkEmailStatus: (client) => client.getBulkEmailStatus("b"),
  }),
  {
    call: "getInboundMessages",
    gives: "GET /v1/inbound; `Status` is `Processed` or `Blocked`",
    run: (client) => client.getInboundMessages(),
  },
  {
    call: "getInboundMessageDetails",
    gives: "GET /v1/inbound/{id}",
    run: (client, { received }) => client.getInboundMessageDetails(received),
  },
  {
    call: "bypassBlockedInboundMessage",
    gives:
      "422, 702: This message does not wait to be let through: what a rule blocks is refused while its server waits.",
    run: (client, { received }) => client.bypassBlockedInboundMessage(received),
  },
  {
    call: "retryInboundHookForMessage",
    gives: "POST /v1/inbound/{id}/replay",
    run: (client, { received }) => client.retryInboundHookForMessage(received),
  },
  ...rows("routes that refuse mail: GET, POST and DELETE /v1/inbound/routes", {
    getInboundRuleTriggers: (client) => client.getInboundRuleTriggers(),
    createInboundRuleTrigger: (client) => client.createInboundRuleTrigger({ Rule: "spam.example" }),
    deleteInboundRuleTrigger: async (client) => {
      const { InboundRules } = await client.getInboundRuleTriggers()
      return client.deleteInboundRuleTrigger(InboundRules[0]?.ID ?? 0)
    },
  }),
  ...rows(STREAMS, {
    createMessageStream: (client) =>
      client.createMessageStream({ ID: "s", Name: "s", MessageStreamType: "Transactional" }),
    editMessageStream: (client) => client.editMessageStream(STREAM, { Name: "s" }),
    archiveMessageStream: (client) => client.archiveMessageStream(STREAM),
    unarchiveMessageStream: (client) => client.unarchiveMessageStream(STREAM),
  }),
  ...rows("GET /v1/stats by day: what Waybill does not count, such as unique opens, is left out", {
    getOutboundOverview: (client) => client.getOutboundOverview(),
    getSentCounts: (client) => client.getSentCounts(),
    getSpamComplaintsCounts: (client) => client.getSpamComplaintsCounts(),
    getEmailOpenCounts: (client) => client.getEmailOpenCounts(),
    getClickCounts: (client) => client.getClickCounts(),
  }),
  ...rows("GET /v1/stats by day, all as `Unknown`", {
    getEmailOpenPlatformUsage: (client) => client.getEmailOpenPlatformUsage(),
    getClickPlatformUsage: (client) => client.getClickPlatformUsage(),
  }),
  ...rows("GET /v1/stats by day, all as `HTML`: links of texts are not tracked", {
    getClickLocation: (client) => client.getClickLocation(),
  }),
  ...rows("GET /v1/email/logs, the recipients that bounced, counted by kind: at most 1,000", {
    getDeliveryStatistics: (client) => client.getDeliveryStatistics(),
    getBounceCounts: (client) => client.getBounceCounts(),
  }),
  ...rows("GET /v1/email/logs and the events of each email, the newest email first: at most 100", {
    getMessageOpens: (client) => client.getMessageOpens(),
    getMessageClicks: (client) => client.getMessageClicks(),
  }),
  ...rows("GET /v1/email/logs/{id}/events, newest first: at most 100", {
    getMessageOpensForSingleMessage: (client, { bounced }) => client.getMessageOpensForSingleMessage(bounced),
    getMessageClicksForSingleMessage: (client, { bounced }) => client.getMessageClicksForSingleMessage(bounced),
  }),
  ...rows("an empty text, as for a bounce without a dump", {
    getBounceDump: (client, { bounce }) => client.getBounceDump(bounce),
  }),
  ...rows("404, 404: Waybill does not count tracked messages. Each message has TrackOpens in its details.", {
    getTrackedEmailCounts: (client) => client.getTrackedEmailCounts(),
  }),
  ...rows(PROGRAMS, {
    getEmailOpenClientUsage: (client) => client.getEmailOpenClientUsage(),
    getClickBrowserUsage: (client) => client.getClickBrowserUsage(),
  }),
  ...rows("404, 404: Waybill does not measure how long a message is read.", {
    getEmailOpenReadTimes: (client) => client.getEmailOpenReadTimes(),
  }),
  ...rows("404, 404: Waybill keeps no source of a message. Its details have the text and the HTML.", {
    getOutboundMessageDump: (client, { bounced }) => client.getOutboundMessageDump(bounced),
  }),
  ...rows("404, 404: Waybill has no servers or account tokens. Each account has its own API keys, at /v1/api-keys.", {
    editServer: (client) => client.editServer({}),
  }),
  ...rows("404, 404: Waybill has no webhooks in this form. They are at /v1/webhooks.", {
    getWebhooks: (client) => client.getWebhooks(),
    getWebhook: (client) => client.getWebhook(1),
    createWebhook: (client) => client.createWebhook({ Url: "https://example.org" }),
    editWebhook: (client) => client.editWebhook(1, {}),
    deleteWebhook: (client) => client.deleteWebhook(1),
  }),
]
