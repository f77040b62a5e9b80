import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as AttachmentLink from "@waybill/mail/tokens/AttachmentLink"
import * as Databases from "@waybill/store/routing/Databases"
import * as Content from "@waybill/store/content/Content"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Clock, Effect, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as InboundFiles from "../../inbound/InboundFiles.ts"
import * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import * as ForeignContent from "./ForeignContent.ts"

/** Serves attachments to holders of a link, who need no key. Requests count in the rate window of their address. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const keys = yield* AttachmentLinks.attachmentKeys
    yield* router.add(
      "GET",
      `${AttachmentLink.PATH}:token`,
      Effect.gen(function* () {
        const { token = "" } = yield* HttpRouter.params
        const place = AttachmentLink.verify(keys, token, yield* Clock.currentTimeMillis)
        const file = Option.isNone(place) ? undefined : yield* find(place.value)
        return file === undefined ? gone : ForeignContent.download(file.bytes, file.filename, { headers: HEADERS })
      }),
    )
  }),
)

const find = ({ account_id, mail_id, nth }: AttachmentLink.AttachmentPlace) =>
  isReceived(mail_id)
    ? Databases.ofAccount(account_id, InboundFiles.find(account_id, mail_id, nth))
    : sent(account_id, mail_id, nth)

const isReceived = (id: string): id is Id.InboundId => id.startsWith(Id.PREFIXES.InboundId)

const sent = Effect.fnUntraced(function* (account_id: Id.AccountId, email_id: Id.EmailId, nth: number) {
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: email_id })
  const attachment = state._tag === "Message" ? state.accepted.content.attachments[nth] : undefined
  if (attachment === undefined) return undefined
  const found = yield* Databases.ofAccount(account_id, Content.findAll(account_id, [attachment.sha256]))
  const bytes = found.get(attachment.sha256)
  return bytes === undefined ? undefined : { filename: attachment.filename, bytes }
})

const HEADERS = { ...ForeignContent.HEADERS, "x-robots-tag": "noindex", "referrer-policy": "no-referrer" }

const gone = HttpServerResponse.text("This link is not valid or has expired. Ask the API for the attachment again.\n", {
  status: 404,
  headers: HEADERS,
})
