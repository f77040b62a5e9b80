import type { AccountId } from "@waybill/domain/values/Id"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as ReadInbound from "@waybill/mail/incoming/InboundMail"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Inbound from "@waybill/store/readmodels/Inbound"
import type * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import { Effect, Option } from "effect"
import * as InboundRecords from "../../inbound/InboundRecords.ts"
import type * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import type { RecordSettings } from "../../operate/DomainCommands.ts"
import * as WebhookPayload from "./WebhookPayload.ts"

/** Maximum characters of each text of a received mail in a call. */
export const MAX_TEXT_CHARS = 256 * 1024

const NO_TEXTS = { headers: [], text: null, html: null, stripped_text: null }

/** Whether a call tells of a received mail, whose texts are no part of the event. */
export const isReceived = ({ event_type }: WebhookDeliveries.Dispatch): boolean => event_type === "email.received"

/** Returns the body of a call for a received mail: the record with its texts. It is read at dispatch, while it is kept. */
export const make = Effect.fn("InboundBody.make")(function* (
  links: AttachmentLinks.Links,
  dispatch: WebhookDeliveries.Dispatch,
  records: RecordSettings,
) {
  const { account_id, event } = dispatch
  if (event === null) return WebhookPayload.bodyOf(dispatch, records)
  const owner = dispatch.livemode ? account_id : Livemode.testAccountOf(account_id as AccountId)
  const { sha256: _, ...mail } = event.data
  const arrived = mail as unknown as Inbound.Arrived
  const present = InboundRecords.withLinks(links, dispatch.livemode)
  // The event alone does not say which routes applied.
  const record = present(Option.getOrElse(yield* Inbound.find(owner, arrived.inbound_id), () => arrived))
  const bytes = yield* InboundContent.find(owner, record.id)
  const shown = Option.isNone(bytes)
    ? JSON.stringify({ ...record, ...NO_TEXTS })
    : yield* ReadInbound.show(bytes.value, record, owner, MAX_TEXT_CHARS).pipe(
        Effect.map((json) => Buffer.from(json).toString("utf8")),
        Effect.catchTag("NotDisplayable", () => Effect.succeed(JSON.stringify({ ...record, ...NO_TEXTS }))),
      )
  const { data: __, ...call } = WebhookPayload.native(dispatch)
  return `${JSON.stringify(call).slice(0, -1)},"data":${shown}}`
})
