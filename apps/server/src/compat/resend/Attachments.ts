import type { WithContent } from "@waybill/api/schemas/EmailRecord"
import { Effect } from "effect"
import * as FileLinks from "./FileLinks.ts"
import * as Native from "../Native.ts"
import * as ResendReceived from "../../webhookFormats/ResendReceived.ts"

/** Returns the attachments of an email, each with an id of its own and a link that works for some time without a key. */
const attachmentsOf = Effect.fnUntraced(function* (id: string | undefined, host: string | undefined) {
  const email = yield* Native.get<typeof WithContent.Type>(Native.path`/v1/email/logs/${id}`)
  const { expires_at, urlOf } = yield* FileLinks.of(email, host)
  // Nothing can be downloaded once the content is no longer kept.
  return (email.content?.attachments ?? []).map(({ content_id, content_type, filename, size_bytes }, nth) => ({
    id: ResendReceived.attachmentIdOf(email.id, nth),
    filename,
    size: size_bytes,
    content_type,
    content_disposition: content_id === null ? "attachment" : "inline",
    ...(content_id === null ? {} : { content_id }),
    download_url: urlOf(nth),
    expires_at,
  }))
})

const MISSING = "This email has no attachment with this id, or its content is no longer kept."

export const routes = FileLinks.routesOf("/emails/:id/attachments", "logs.get", attachmentsOf, MISSING)
