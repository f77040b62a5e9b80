import { Sendable } from "@waybill/api/schemas/send/Sendable"
import { Effect } from "effect"
import { decodeBody } from "../../decodeBody.ts"
import * as Fields from "../../lenient/Fields.ts"
import * as OwnHeaders from "../../lenient/OwnHeaders.ts"
import * as Native from "../../Native.ts"
import * as RemoteFile from "../../RemoteFile.ts"
import { templateName } from "../templates/templateName.ts"
import * as Mailboxes from "./Mailboxes.ts"
import * as ResendMessage from "./ResendMessage.ts"
import * as Tags from "../../../webhookFormats/ResendTags.ts"

/** The body of our own send for a message, and the files that are still to be fetched for it. */
export interface Draft {
  readonly body: Readonly<Record<string, unknown>> & { readonly attachments?: ReadonlyArray<File> }
  readonly files: ReadonlyArray<{ readonly url: string; readonly index: number }>
}

interface File {
  readonly filename: string
  readonly content: string
  readonly content_type?: string
  readonly content_id?: string
}

/** Translates a message, and fetches nothing. */
export const make = Effect.fnUntraced(function* (message: ResendMessage.Message) {
  const { attachments, headers, scheduled_at, tags, template, ...same } = message
  const body: Draft["body"] = {
    ...same,
    accept_suppressed: true,
    ...Mailboxes.quoted(message),
    ...(headers === undefined ? {} : { headers: OwnHeaders.drop(headers, [message.reply_to ?? []].flat()) }),
    ...(tags === undefined
      ? {}
      : {
          metadata: Tags.metadataOf(tags.map(({ name, value = "" }) => ({ name: String(name), value: String(value) }))),
        }),
    ...(template === undefined ? {} : { template: { ...template, id: templateName(template.id) } }),
    ...(scheduled_at === undefined ? {} : { scheduled_at: yield* ResendMessage.scheduledAt(scheduled_at, headers) }),
    ...(attachments === undefined ? {} : { attachments: yield* Effect.forEach(attachments, fileOf) }),
  }
  const files = (attachments ?? []).flatMap(({ path }, index) => (path === undefined ? [] : [{ url: path, index }]))
  return { body, files } satisfies Draft
})

/** Laravel sends calendars as text. No base64 has a colon. */
const CALENDAR_TEXT = /^\s{0,9}BEGIN:VCALENDAR/iu

/** Returns an attachment; one that is still to be fetched is empty. */
const fileOf = Effect.fnUntraced(function* (attachment: ResendMessage.Attachment, index: number) {
  const { filename, path } = attachment
  const content = attachment.content === undefined ? undefined : Fields.base64Of(attachment.content)
  const content_type = attachment.content_type ?? attachment.contentType
  const content_id =
    attachment.content_id ?? attachment.contentId ?? attachment.inline_content_id ?? attachment.inlineContentId
  const field = `attachments[${index}]`
  if ((content === undefined) === (path === undefined))
    return yield* Native.refuse(field, "must have either `content` or `path`")
  const named = typeof filename === "string" ? filename : undefined
  return {
    filename: named ?? (path === undefined ? undefined : RemoteFile.nameOf(path)) ?? Fields.UNNAMED,
    content: CALENDAR_TEXT.test(content ?? "") ? Buffer.from(content ?? "").toString("base64") : (content ?? ""),
    ...(content_type === undefined ? {} : { content_type }),
    ...(content_id === undefined ? {} : { content_id }),
  } satisfies File
})

/** Refuses a message for everything but the content of its files, before the first of them is fetched. */
export const check = Effect.fnUntraced(function* ({ body, files }: Draft, left: { files: number }) {
  yield* decodeBody(Sendable, body)
  for (const { index, url } of files) yield* RemoteFile.check(url, fieldOf(index), left)
})

const fieldOf = (index: number): string => `attachments[${index}].path`

/** Fetches the files of a message, and returns the body of our own send. */
export const complete = Effect.fnUntraced(function* ({ body, files }: Draft, budget: RemoteFile.FetchBudget) {
  if (files.length === 0) return body
  const attachments = [...(body.attachments ?? [])]
  for (const { index, url } of files) {
    const { content, type } = yield* RemoteFile.fetch(url, fieldOf(index), budget)
    const file = attachments[index]
    if (file !== undefined)
      attachments[index] = { ...(type === undefined ? {} : { content_type: type }), ...file, content }
  }
  return { ...body, attachments }
})
