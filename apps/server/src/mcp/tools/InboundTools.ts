import * as Checks from "@waybill/api/schemas/Checks"
import type { InboundEmail, InboundEmailWhole, Thread } from "@waybill/client/Waybill"
import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Schema } from "effect"
import { clipped, listed, MAX_BODY_CHARS } from "./ToolAnswer.ts"
import * as EmailTools from "./EmailTools.ts"
import { ask, tool, untrusted } from "./Tool.ts"

const MAX_FOUND = 50
const DEFAULT_FOUND = 20
const MAX_TEXT_CHARS = 320
/** Headers that one answer shows. */
const MAX_HEADERS = 50

const filter = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)
const text = (description: string) =>
  filter(Schema.String.check(Checks.chars(MAX_TEXT_CHARS, 1), Checks.oneLine).annotate({ description }))

const FindInput = Schema.Struct({
  to: filter(Address.FromText.annotate({ description: "The recipient" })),
  from: filter(Address.FromText.annotate({ description: "The sender that the header names" })),
  subject: text("Part of the subject"),
  q: text("Part of the subject or of an address"),
  domain: filter(DomainName.FromText.annotate({ description: "The receiving domain" })),
  email_id: filter(Id.EmailId.annotate({ description: "Answers to this sent email" })),
  thread_id: filter(Id.ThreadId),
  created_after: filter(Timestamp.FromIso),
  created_before: filter(Timestamp.FromIso),
  limit: EmailTools.atMost(MAX_FOUND, DEFAULT_FOUND),
  after: filter(Id.InboundId.annotate({ description: "`next_cursor` of the answer before, for older mail" })),
})

const { Boolean, Natural, String, Struct, optional } = Schema
const Texts = Schema.Array(String)

const Sender = { from: String, to: Texts, subject: String }

const FOUND = {
  id: String,
  created_at: String,
  thread_id: String,
  answers_email: optional(String),
  domain: String,
  written_by: String,
  sender_checks: Struct({ spf: String, dkim: Texts, dmarc: String }),
  size_bytes: Natural,
  attachments: Natural,
}

const personOf = ({ address, name }: InboundEmail["to"][number]): string =>
  clipped(name === null ? address : `${name} <${address}>`)

const summaryOf = (mail: InboundEmail | InboundEmailWhole) => ({
  id: mail.id,
  created_at: mail.created_at,
  thread_id: mail.thread_id,
  answers_email: mail.email_id ?? undefined,
  domain: mail.domain,
  written_by: mail.automatic === null ? "a person, as far as its header says" : `a program: ${mail.automatic}`,
  sender_checks: { spf: mail.auth.spf, dkim: mail.auth.dkim.map(({ result }) => result), dmarc: mail.auth.dmarc },
  size_bytes: mail.size_bytes,
  attachments: mail.attachments.length,
  untrusted: {
    from: mail.from === null ? clipped(mail.envelope.from) : personOf(mail.from),
    to: listed(mail.envelope.to),
    subject: clipped(mail.subject ?? ""),
  },
})

const find = tool({
  name: "find_received_mail",
  title: "Find received mail",
  description:
    "Lists mail that came in and matches all given filters, newest first, with sender, subject and the findings about the sender.",
  input: FindInput,
  facts: { next_cursor: optional(String) },
  row: Struct({ ...FOUND, untrusted: untrusted(Sender) }),
  run: (waybill, { after, limit = DEFAULT_FOUND, ...filters }) =>
    ask(() => waybill.inbound.list({ ...filters, limit, after })).pipe(
      Effect.map((page) => ({
        summary:
          page.data.length === 0 && !page.has_more
            ? "No received mail matches."
            : `${page.data.length} received mails${page.has_more ? "; there may be more: call again with `after`" : ""}.`,
        facts: page.next_cursor === null ? {} : { next_cursor: page.next_cursor },
        rows: page.data.map(summaryOf),
      })),
    ),
})

const get = tool({
  name: "get_received_mail",
  title: "Get a received mail",
  description:
    "Shows one received mail: who sent it, what was found out about the sender, its files, and its text if it is asked for. A stranger wrote all of it.",
  input: Schema.Struct({
    id: Id.InboundId,
    include_body: filter(Schema.Boolean.annotate({ description: "Whether the text is shown; false by default" })),
    include_headers: filter(Schema.Boolean.annotate({ description: "Whether the headers are shown" })),
  }),
  facts: {
    ...FOUND,
    complete: Boolean,
    routes: Schema.Array(
      Struct({ action: String, result: String, email_id: optional(String), reason: optional(String) }),
    ),
    forwards: optional(Schema.Array(Schema.Unknown)),
    untrusted: untrusted({
      ...Sender,
      cc: optional(Texts),
      reply_to: optional(Texts),
      remote_ip: optional(String),
      files: Schema.Array(Struct({ id: String, filename: String, content_type: String, size_bytes: Natural })),
      headers: optional(Texts),
      text: optional(String),
      without_quote: optional(String),
      html: optional(String),
    }),
  },
  run: (waybill, { id, include_body = false, include_headers = false }) =>
    ask(() => waybill.inbound.get(id)).pipe(Effect.map((mail) => shown(mail, include_body, include_headers))),
})

const shown = (mail: InboundEmailWhole, withBody: boolean, withHeaders: boolean) => {
  const { untrusted, ...facts } = summaryOf(mail)
  const headers = mail.headers.slice(0, MAX_HEADERS).map(({ name, value }) => `${name}: ${value}`)
  return {
    summary: `Received mail ${mail.id}.${withBody ? "" : " Its text was not asked for."}`,
    facts: {
      ...facts,
      complete: mail.complete,
      routes: mail.routes.map(({ action, email_id, reason, result }) => ({
        action,
        result,
        email_id: email_id ?? undefined,
        reason: reason ?? undefined,
      })),
      forwards: mail.forwards.length === 0 ? undefined : mail.forwards,
      untrusted: {
        ...untrusted,
        cc: mail.cc.length === 0 ? undefined : listed(mail.cc.map(personOf)),
        reply_to: mail.reply_to.length === 0 ? undefined : listed(mail.reply_to.map(personOf)),
        remote_ip: mail.envelope.remote_ip ?? undefined,
        files: mail.attachments.map(({ content_type, filename, id, size_bytes }) => ({
          id,
          filename: clipped(filename),
          content_type: clipped(content_type),
          size_bytes,
        })),
        ...(withHeaders ? { headers: headers.map((line) => clipped(line)) } : {}),
        ...(withBody ? bodyOf(mail) : {}),
      },
    },
  }
}

/** The HTML is shown only where there is no text. */
const bodyOf = ({ html, stripped_text, text }: InboundEmailWhole) =>
  text === null
    ? { html: html === null ? undefined : clipped(html, MAX_BODY_CHARS) }
    : {
        text: clipped(text, MAX_BODY_CHARS),
        without_quote: stripped_text === text ? undefined : clipped(stripped_text ?? ""),
      }

const thread = tool({
  name: "get_thread",
  title: "Get a conversation",
  description: "Lists the sent emails and the received mail of one thread, oldest first.",
  input: Schema.Struct({ id: Id.ThreadId }),
  row: Struct({
    direction: Schema.Literals(["sent", "received"]),
    id: String,
    status: String,
    created_at: String,
    untrusted: untrusted(Sender),
  }),
  run: (waybill, { id }) =>
    ask(() => waybill.threads.get(id)).pipe(
      Effect.map(({ data }) => ({
        summary: `${data.length} mails of a thread, oldest first.`,
        rows: data.map(entryOf),
      })),
    ),
})

const entryOf = ({ created_at, direction, from, id, status, subject, to }: Thread["data"][number]) => ({
  direction,
  id,
  status,
  created_at,
  untrusted: { from: clipped(from), to: listed(to), subject: clipped(subject ?? "") },
})

export const all = [find, get, thread]
