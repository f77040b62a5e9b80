import * as Livemode from "@waybill/domain/account/Livemode"
import * as ReadInbound from "@waybill/mail/reading/InboundMail"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Inbound from "@waybill/store/readmodels/Inbound"
import type * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import { Effect, Option } from "effect"
import { randomBytes } from "node:crypto"
import * as InboundRecords from "../../inbound/InboundRecords.ts"
import type * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import type { RecordSettings } from "../../settings/Instance.ts"
import * as PostmarkInbound from "../../webhookFormats/PostmarkInbound.ts"
import * as TestModeWords from "../../webhookFormats/TestModeWords.ts"
import * as SendGridInbound from "../../webhookFormats/SendGridInbound.ts"
import * as WebhookPayload from "./WebhookPayload.ts"

/** Maximum bytes of each text of a received mail in a call of our own format; the other formats have all of it. */
export const MAX_TEXT_BYTES = 256 * 1024
/** KiB of received mail, as it came and as it is sent, that one process holds for calls. */
export const MAX_HELD_KB = 256 * 1024
/** Bytes that a call holds for each of its mail: the mail, and the body with its files in base64. */
const COPIES = 3
/** Bytes that a call holds for each of a mail that is in the body as it came. */
const RAW_COPIES = 2

const NOTHING = new Uint8Array()
const NO_TEXTS = { headers: [], text: null, html: null, stripped_text: null }
const BOUNDARY_BYTES = 18

/** The body of a call, and its type if that is not JSON. */
export interface Body {
  readonly body: string | Uint8Array
  readonly contentType?: string
}

/** Whether a call tells of a received mail, whose texts are no part of the event. */
export const isReceived = ({ event_type }: WebhookDeliveries.Dispatch): boolean => event_type === "email.received"

/** Returns the KiB that a call holds, of those above. */
export const heldKbOf = ({ event, webhook }: WebhookDeliveries.Dispatch): number => {
  const copies = COPIES + (webhook?.include_raw === true ? RAW_COPIES : 0)
  return Math.min(MAX_HELD_KB, 1 + Math.ceil((Number(event?.data["size_bytes"] ?? 0) * copies) / 1024))
}

/** Returns the body of a call for a received mail: the record with its texts. It is read at dispatch, while it is kept. */
export const make = Effect.fn("InboundBody.make")(function* (
  links: AttachmentLinks.Links,
  dispatch: WebhookDeliveries.Dispatch,
  records: RecordSettings,
) {
  const { account_id, event, format, livemode, webhook } = dispatch
  const raw = webhook?.include_raw === true
  if (event === null || format === "resend") return { body: WebhookPayload.bodyOf(dispatch, records) } satisfies Body
  const owner = livemode ? account_id : Livemode.testAccountOf(account_id)
  const mail = InboundRecords.ofEvent(event.data, livemode)
  const found = yield* InboundContent.find(owner, mail.id)
  const bytes = Option.getOrElse(found, () => NOTHING)
  const { attachments } = mail
  if (format === "postmark") {
    const input = {
      bytes,
      raw,
      record: { ...PostmarkInbound.fieldsOf(mail), ...TestModeWords.modeOf(livemode) },
      attachments,
      findings: PostmarkInbound.findingsOf(mail),
      isReply: PostmarkInbound.isReply(mail),
    }
    return { body: yield* ReadInbound.postmark(input, owner) } satisfies Body
  }
  if (format === "sendgrid") {
    const boundary = randomBytes(BOUNDARY_BYTES).toString("hex")
    const input = { bytes, raw, fields: SendGridInbound.fieldsOf(mail), attachments, boundary }
    const contentType = `multipart/form-data; boundary=${boundary}`
    return { body: yield* ReadInbound.sendGrid(input, owner), contentType } satisfies Body
  }
  const present = InboundRecords.withLinks(links, owner)
  // The event alone does not say which routes applied.
  const record = present(
    Option.getOrElse(yield* Inbound.find(owner, mail.id), () => InboundRecords.arrivedIn(event.data)),
  )
  const shown =
    bytes === NOTHING
      ? JSON.stringify({ ...record, ...NO_TEXTS })
      : yield* ReadInbound.show(bytes, record, owner, { most: MAX_TEXT_BYTES }).pipe(
          Effect.map((json) => Buffer.from(json).toString("utf8")),
          Effect.catchTag("NotDisplayable", () => Effect.succeed(JSON.stringify({ ...record, ...NO_TEXTS }))),
        )
  const { data: _, ...call } = WebhookPayload.native(dispatch)
  return { body: `${JSON.stringify(call).slice(0, -1)},"data":${shown}}` } satisfies Body
})
