import * as Inbound from "@waybill/domain/inbound/Inbound"
import type { AccountId, InboundId } from "@waybill/domain/values/Id"
import * as AttachmentLink from "@waybill/mail/tokens/AttachmentLink"
import * as ReadInbound from "@waybill/mail/reading/InboundMail"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InboundContent from "@waybill/store/content/InboundContent"
import { Effect, Option } from "effect"

/** Returns a file of a received mail, or the whole mail, with its name; undefined if there is none, or it is no longer kept. */
export const find = Effect.fn("InboundFiles.find")(function* (account_id: AccountId, id: InboundId, nth: number) {
  const store = yield* EventStore
  const state = yield* store.state(Inbound, { account_id, stream_id: id })
  if (state._tag !== "Received") return undefined
  const isWhole = nth === AttachmentLink.WHOLE
  const file = state.mail.attachments[nth]
  if (file === undefined && !isWhole) return undefined
  const bytes = yield* InboundContent.find(account_id, id)
  if (Option.isNone(bytes)) return undefined
  if (file === undefined) return { filename: `${id}.eml`, bytes: bytes.value }
  // A file that cannot be read now is not there for its reader.
  const content = yield* Effect.orElseSucceed(ReadInbound.file(bytes.value, nth, account_id), () => undefined)
  return content === undefined ? undefined : { filename: file.filename, bytes: content }
})
