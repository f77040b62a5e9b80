import * as Content from "@waybill/domain/email/Content"
import * as Checks from "@waybill/api/schemas/Checks"
import { Effect, Schema } from "effect"
import { ask, type Effects, tool, ToolRefusal } from "./Tool.ts"

/** Maximum number of recipients of one live email: an assistant is no way to send to a list. */
export const MAX_LIVE_RECIPIENTS = 10
/** Maximum length of a text or an HTML that a tool sends. */
const MAX_SENT_CHARS = 200_000
const MAX_KEY_CHARS = 200

const text = (description: string, most: number) => Schema.String.check(Checks.chars(most, 1)).annotate({ description })
const addresses = (description: string) =>
  Schema.Array(Schema.String)
    .check(Checks.items(1, 50, "addresses"))
    .annotate({ description })

const Message = {
  from: text("Sender, `hi@acme.com` or `Acme <hi@acme.com>`", 1_000),
  to: addresses("Recipients"),
  cc: Schema.optionalKey(addresses("Visible copies")),
  bcc: Schema.optionalKey(addresses("Hidden copies")),
  reply_to: Schema.optionalKey(addresses("Addresses for replies")),
  subject: text("Subject", 998),
  text: Schema.optionalKey(text("Body as plain text; give this, HTML or both", MAX_SENT_CHARS)),
  html: Schema.optionalKey(text("Body as HTML", MAX_SENT_CHARS)),
  tags: Schema.optionalKey(Schema.Array(Schema.String).annotate({ description: "Labels for finding the email" })),
  metadata: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String).annotate({
      description: "Pairs for identifying the email, which recipients do not get",
    }),
  ),
  scheduled_at: Schema.optionalKey(text("When to send it: ISO 8601 with an offset or Z", 40)),
  idempotency_key: Schema.optionalKey(
    text("Sends at most one email for the same text, however often it is called", MAX_KEY_CHARS),
  ),
}

const WRITES: Effects = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }

const acknowledged = (id: string, where: string, message: Content.Body) => ({
  summary: `Accepted as ${id}. ${where}${Content.hasBody(message) ? "" : ` ${Content.NO_BODY}.`} Its state is in get_email.`,
  facts: { id },
})

const options = (key: string | undefined) => (key === undefined ? {} : { idempotencyKey: key })

/** For a test key: nothing that is sent with it leaves the instance. */
export const sendTestEmail = tool({
  name: "send_test_email",
  title: "Send a test email",
  description:
    "Sends an email in test mode: it is accepted, processed and shown like any other, and never leaves the instance.",
  annotations: WRITES,
  facts: { id: Schema.String },
  input: Schema.Struct({
    ...Message,
    script: Schema.optionalKey(
      text("Outcome to simulate, such as `defer 451 4.7.1; bounce 550 5.1.1`; delivered without it", 500),
    ),
  }),
  run: (waybill, { idempotency_key, script, ...message }) =>
    ask(() =>
      waybill.emails.send(
        { ...message, ...(script === undefined ? {} : { headers: { "X-Waybill-Script": script } }) },
        options(idempotency_key),
      ),
    ).pipe(Effect.map(({ id }) => acknowledged(id, "It is a test and reaches nobody.", message))),
})

/** For a live key, if the person who started the server allowed it. */
export const sendEmail = tool({
  name: "send_email",
  title: "Send an email",
  description: `Sends a real email to at most ${MAX_LIVE_RECIPIENTS} recipients. It cannot be taken back. Show the person the recipients and the text, and call this only after they agree.`,
  annotations: { ...WRITES, destructiveHint: true, openWorldHint: true },
  facts: { id: Schema.String },
  input: Schema.Struct(Message),
  run: (waybill, { idempotency_key, ...message }) => {
    const recipients = [message.to, message.cc, message.bcc].flatMap((list) => list ?? []).length
    return recipients > MAX_LIVE_RECIPIENTS
      ? Effect.fail(
          new ToolRefusal({
            message: `The email has ${recipients} recipients; this tool sends to at most ${MAX_LIVE_RECIPIENTS}.`,
          }),
        )
      : ask(() => waybill.emails.send(message, options(idempotency_key))).pipe(
          Effect.map(({ id }) => acknowledged(id, "It is on its way.", message)),
        )
  },
})
