import type { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Sendable from "@waybill/api/schemas/send/Sendable"
import type { TemplatedMessage } from "@waybill/api/schemas/send/TemplatedMessage"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Header from "@waybill/domain/email/Header"
import type * as Id from "@waybill/domain/values/Id"
import * as Script from "@waybill/domain/email/Script"
import * as Address from "@waybill/domain/values/Address"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as MediaType from "@waybill/mail/compose/MediaType"
import { bareContentId } from "@waybill/mail/compose/Message"
import type { Append, View } from "@waybill/store/commit/Commit"
import type { Needs } from "@waybill/store/log/Fact"
import * as Content from "@waybill/store/content/Content"
import { identity, Result } from "effect"
import type { Filled } from "../templates/Templating.ts"

/** A message as requested, and the content to store for it. */
export interface Draft<E = never> {
  readonly command: Acceptance.Command
  readonly blobs: ReadonlyArray<Content.Blob>
  /** The message that this one resends. */
  readonly original?: Acceptance.Context["original"]
  readonly source?: Source<E>
}

/** The stream of the message that a draft copies, answers or sends on. The commit loads it. */
export interface Source<E> extends Pick<Append, "aggregate" | "id"> {
  /** Rebuilds the draft inside the transaction. */
  readonly rebuild?: (view: View) => Result.Result<Draft<E>, E>
  /** Returns the events that name the new message in the stream. */
  readonly record: (view: View, id: Id.EmailId, at: Timestamp.Timestamp) => Result.Result<Append["events"], E>
}

/** A message to send: its draft, or why there is none, or what its draft is made of. */
export type Outgoing<E = never> = Result.Result<Draft<E>, E> | Templated

/** A message that is made of a template. */
export interface Templated {
  readonly message: TemplatedMessage
  readonly finish: (draft: Draft) => Draft
}

/** Returns a message of the API to send. `finish` adds to its draft what only another way in can say. */
export const outgoing = (message: Sendable.Sendable, finish: Templated["finish"] = identity): Outgoing =>
  Sendable.isTemplated(message) ? { message, finish } : Result.succeed(finish(fromMessage(message)))

/** Returns the draft of a message that was made of a template. */
export const fromTemplate = ({ finish }: Templated, { message, used }: Filled): Draft =>
  finish(fromMessage(message, used))

/** Returns the draft of a message. A missing text part is derived when the mail is composed, to keep acceptance cheap. */
export const fromMessage = (message: EmailMessage, template?: Acceptance.UsedTemplate): Draft => {
  const body = Content.encodeBody(message)
  const files = (message.attachments ?? []).map((file) => ({
    ...file,
    blob: Content.blob(Buffer.from(file.content, "base64")),
  }))
  const blobs = [body, ...files.map(({ blob }) => blob)]
  const { clock, headers, script } = withoutTestHeaders(message.headers ?? {})
  const { bcc, cc, from, list_unsubscribe, metadata, reply_to, scheduled_at, subject, tags, to, tracking } = message
  const reply_tracking = message.reply_tracking ?? undefined
  const size_bytes = blobs.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return {
    blobs,
    command: {
      from,
      to,
      cc,
      bcc,
      reply_to,
      subject,
      headers,
      test_clock: clock,
      script,
      tags: tags ?? [],
      metadata: metadata ?? undefined,
      template,
      scheduled_at,
      content: {
        sha256: body.sha256,
        has_html: message.html !== null && message.html !== "",
        has_text: message.text !== null && message.text !== "",
        attachments: files.map(({ alternative, blob, content_id, content_type, filename }) => ({
          filename,
          content_type: content_type ?? MediaType.fromFilename(filename),
          size_bytes: blob.bytes.length,
          content_id: content_id === null ? null : bareContentId(content_id),
          sha256: blob.sha256,
          ...(alternative === true ? { alternative } : {}),
        })),
      },
      size_bytes,
      list_unsubscribe: list_unsubscribe ?? false,
      accept_suppressed: message.accept_suppressed ?? false,
      reply_tracking,
      tracking: tracking ?? undefined,
      resend_of: null,
    },
  }
}

/** Takes the headers that only test mail has out of the headers: the name of a test clock, and a script. */
const withoutTestHeaders = (headers: Acceptance.Command["headers"]) => {
  const names = Object.keys(headers)
  const find = (wanted: string) => names.find((name) => name.toLowerCase() === wanted)
  const clock = find(Header.TEST_CLOCK)
  const script = find(Script.HEADER)
  if (clock === undefined && script === undefined) return { headers, clock: undefined, script: undefined }
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== clock && name !== script)),
    clock: clock === undefined ? undefined : (headers[clock] as Id.TestClockId),
    script: script === undefined ? undefined : headers[script],
  }
}

const domainsOf = (command: Acceptance.Command): ReadonlyArray<string> => {
  const name = Acceptance.domainOf(command)
  const sender = Acceptance.senderDomain(command.headers)
  return sender === undefined ? [name] : [name, sender]
}

/** Returns the keys of all recipients, under which the suppression list knows them. */
export const recipientKeys = ({ bcc, cc, to }: Acceptance.Command): ReadonlyArray<string> =>
  [...to, ...cc, ...bcc].map(({ address }) => Address.keyOf(address))

/** Returns the UTC month of a moment, as `2026-11`; volume is counted per month. */
export const monthOf = (at: Timestamp.Timestamp): string => at.slice(0, "2026-11".length)

/** Returns the facts that a transaction has to load to decide about the drafts of a sender. */
export const needsOf = (
  drafts: ReadonlyArray<Pick<Draft, "command">>,
  at: Timestamp.Timestamp,
  clock: Id.TestClockId | undefined,
) =>
  ({
    ...clocksOf(drafts, clock),
    domains: drafts.flatMap(({ command }) => domainsOf(command)),
    addresses: drafts.flatMap(({ command }) => recipientKeys(command)),
    month: monthOf(at),
    ...(drafts.some(({ command }) => command.scheduled_at !== null) ? { unsent: monthOf(at) } : {}),
  }) satisfies Needs

const clocksOf = (
  drafts: ReadonlyArray<Pick<Draft, "command">>,
  clock: Id.TestClockId | undefined,
): Pick<Needs, "clocks"> => {
  const clocks = drafts.map(({ command }) => command.test_clock ?? clock).filter((id) => id !== undefined)
  return clocks.length === 0 ? {} : { clocks: [...new Set(clocks)] }
}

/** Approximate size of the drafts in a commit. */
export const bytesOf = (drafts: ReadonlyArray<Pick<Draft, "command">>): number =>
  drafts.reduce((sum, { command }) => sum + command.size_bytes, 0)
