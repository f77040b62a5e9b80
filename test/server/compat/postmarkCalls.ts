import type { Message, ServerClient } from "postmark"

/** What earlier calls made. */
export interface Known {
  /** A message that bounced. */
  readonly bounced: string
  readonly bounce: number
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
const TEMPLATE = { From: EMAIL.From, To: "ana@example.org", TemplateId: 1, TemplateModel: {} }

const TEMPLATES =
  "404, 404: Waybill has no templates. Render the email in your program, and send HtmlBody and TextBody."
const INBOUND = "404, 404: Waybill has no inbound mail: it only sends."
const STREAMS = "404, 404: Waybill has no message streams. Leave MessageStream out, or set it to outbound."
const STATS = "404, 404: Waybill has no statistics in this form. They are at GET /v1/stats."

/** Calls of the npm package `postmark`, and what each gives at /compat/postmark. */
export const postmarkCalls: ReadonlyArray<PostmarkCall> = [
  { call: "sendEmail", gives: "POST /v1/email/send", run: (client) => client.sendEmail(EMAIL) },
  {
    call: "sendEmailBatch",
    gives: "POST /v1/email/send/batch, at most 100 messages; a result for each",
    run: (client) => client.sendEmailBatch([EMAIL, EMAIL]),
  },
  {
    call: "sendEmail with Tag and Metadata",
    gives: "tags: the tag, and `name:value` for each pair",
    run: (client) => client.sendEmail({ ...EMAIL, Tag: "receipt", Metadata: { order: "7041" } }),
  },
  {
    call: "sendEmail with MessageStream",
    gives: "422, 1235: `MessageStream` must be `outbound` or left out: Waybill has no message streams.",
    run: (client) => client.sendEmail({ ...EMAIL, MessageStream: "broadcast" }),
  },
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
    gives: "GET /v1/email/logs/{id}, one of its recipients; the ID is text",
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
  { call: "sendEmailWithTemplate", gives: TEMPLATES, run: (client) => client.sendEmailWithTemplate(TEMPLATE) },
  {
    call: "sendEmailBatchWithTemplates",
    gives: TEMPLATES,
    run: (client) => client.sendEmailBatchWithTemplates([TEMPLATE]),
  },
  { call: "getTemplates", gives: TEMPLATES, run: (client) => client.getTemplates() },
  { call: "getInboundMessages", gives: INBOUND, run: (client) => client.getInboundMessages() },
  { call: "getInboundRuleTriggers", gives: INBOUND, run: (client) => client.getInboundRuleTriggers() },
  { call: "getMessageStreams", gives: STREAMS, run: (client) => client.getMessageStreams() },
  { call: "getMessageStream", gives: STREAMS, run: (client) => client.getMessageStream(STREAM) },
  { call: "archiveMessageStream", gives: STREAMS, run: (client) => client.archiveMessageStream(STREAM) },
  { call: "getOutboundOverview", gives: STATS, run: (client) => client.getOutboundOverview() },
  { call: "getClickCounts", gives: STATS, run: (client) => client.getClickCounts() },
  {
    call: "getDeliveryStatistics",
    gives: "404, 404: Waybill has no numbers of bounces in this form. Its statistics are at GET /v1/stats.",
    run: (client) => client.getDeliveryStatistics(),
  },
  {
    call: "getOutboundMessageDump",
    gives: "404, 404: Waybill keeps no source of a message. Its details have the text and the HTML.",
    run: (client, { bounced }) => client.getOutboundMessageDump(bounced),
  },
  {
    call: "getMessageOpens",
    gives: "404, 404: Waybill lists opens per message, in its details.",
    run: (client) => client.getMessageOpens(),
  },
  {
    call: "getServer",
    gives: "404, 404: Waybill has no servers or account tokens. Each account has its own API keys, at /v1/api-keys.",
    run: (client) => client.getServer(),
  },
  {
    call: "getWebhooks",
    gives: "404, 404: Waybill has no webhooks in this form. They are at /v1/webhooks.",
    run: (client) => client.getWebhooks(),
  },
]
