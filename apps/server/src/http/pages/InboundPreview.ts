import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as Id from "@waybill/domain/values/Id"
import * as ReadInbound from "@waybill/mail/reading/InboundMail"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Databases from "@waybill/store/routing/Databases"
import { Effect, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { found } from "../../web/found.ts"
import * as ForeignContent from "./ForeignContent.ts"

const isInboundId = Schema.is(Id.InboundId)
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ html: Schema.NullOr(Schema.String) })))

/** Returns the HTML of the received mail in the path, for a frame of the dashboard. */
export const html = Effect.fnUntraced(function* (account_id: Id.AccountId) {
  const { id = "" } = yield* HttpRouter.params
  if (!isInboundId(id)) return yield* new InboundRefusal.InboundNotFound()
  const finding = Databases.ofAccount(account_id, InboundContent.find(account_id, id))
  const bytes = yield* found(finding, () => new InboundRefusal.ContentExpired())
  const shown = yield* ForeignContent.readable(ReadInbound.show(bytes, {}, account_id))
  const read = yield* Effect.mapError(
    decode(Buffer.from(shown).toString("utf8")),
    () => new RequestRefusal.MessageUnreadable(),
  )
  return read.html ?? ""
})
