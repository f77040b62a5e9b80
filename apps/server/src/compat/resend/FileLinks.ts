import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId, EmailId, InboundId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import { accountOf } from "../../requests/accountOf.ts"
import { Admitted } from "../../requests/Admitted.ts"

interface Mail {
  readonly id: EmailId | InboundId
  readonly livemode: boolean
}

/** Makes the links to the files of a mail that a request has read. */
export const of = Effect.fnUntraced(function* ({ id, livemode }: Mail, host: string | undefined) {
  const account_id = accountOf(yield* Admitted) as AccountId
  const links = yield* AttachmentLinks.linksFrom(host)
  return links(livemode ? Livemode.liveAccountOf(account_id) : Livemode.testAccountOf(account_id), id)
})
