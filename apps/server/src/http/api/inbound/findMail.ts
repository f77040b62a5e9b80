import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as InboundMail from "@waybill/store/readmodels/Inbound"
import { Effect } from "effect"
import * as CallerReach from "../../middleware/CallerReach.ts"
import { found } from "../../../web/found.ts"

/** Returns the record of a mail that the caller may see. */
export const findMail = Effect.fnUntraced(function* (id: Id.InboundId) {
  const { account_id } = yield* CurrentKey
  const record = yield* found(InboundMail.find(account_id, id), () => new InboundRefusal.InboundNotFound())
  yield* CallerReach.checkDomain(record.domain)
  return record
})
