import type { InboundEmail } from "@waybill/api/groups/Inbound"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { InboundRecord } from "@waybill/store/readmodels/Inbound"
import { Effect } from "effect"
import * as AttachmentLinks from "../links/AttachmentLinks.ts"

/** The record of a received mail, apart from the links to its files. */
export const withoutLinks = ({ at, inbound_id, ...record }: InboundRecord, livemode: boolean) => ({
  object: "inbound_email" as const,
  id: inbound_id,
  status: "received" as const,
  livemode,
  created_at: at,
  ...record,
  from: record.from === null ? null : named(record.from),
  to: record.to.map(named),
  cc: record.cc.map(named),
  reply_to: record.reply_to.map(named),
})

/** The API shows absent values as null. */
const named = ({ address, name }: InboundRecord["to"][number]) => ({ address, name: name ?? null })

/** Makes records of the API of what the log says, with links to the files. */
export const withLinks =
  (links: AttachmentLinks.Links, livemode: boolean) =>
  (mail: InboundRecord): InboundEmail => {
    const { attachments, ...record } = withoutLinks(mail, livemode)
    const { expires_at, urlOf } = links(mail.inbound_id)
    return { ...record, attachments: attachments.map((file, nth) => ({ ...file, url: urlOf(nth), expires_at })) }
  }

/** The same for a client that has asked a host. */
export const presenter = (account_id: string, host: string | undefined) =>
  Effect.map(AttachmentLinks.linksFrom(host), (links) => withLinks(links, Livemode.isLive(account_id)))
