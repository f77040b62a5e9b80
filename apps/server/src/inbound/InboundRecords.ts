import type { InboundEmail } from "@waybill/api/groups/Inbound"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId } from "@waybill/domain/values/Id"
import * as InboundState from "@waybill/domain/inbound/InboundState"
import type { Arrived, InboundRecord } from "@waybill/store/readmodels/Inbound"
import { Effect } from "effect"
import * as AttachmentLinks from "../links/AttachmentLinks.ts"
import * as RouteResults from "./RouteResults.ts"

/** The record of a received mail, apart from the links to its files. Absent routes are those of the event alone: none. */
export const withoutLinks = (
  { at, inbound_id, ...record }: Arrived & Partial<InboundRecord>,
  livemode: boolean,
  results: RouteResults.Results = RouteResults.UNKNOWN,
) => ({
  object: "inbound_email" as const,
  id: inbound_id,
  livemode,
  created_at: at,
  ...record,
  status: record.status ?? ("received" as const),
  verdict: InboundState.verdictOf(record.auth),
  routes: (record.routes ?? []).map(RouteResults.shown(inbound_id, results)),
  replies: record.replies ?? [],
  forwards: (record.forwards ?? []).map(RouteResults.forwardShown(results)),
  from: record.from === null ? null : named(record.from),
  to: record.to.map(named),
  cc: record.cc.map(named),
  reply_to: record.reply_to.map(named),
})

/** The mail that an event tells of: the facts of the record, and the hash of the content. */
export const arrivedIn = ({ sha256: _, ...mail }: Readonly<Record<string, unknown>>): Arrived =>
  mail as unknown as Arrived

/** The record of the mail that an event tells of. */
export const ofEvent = (data: Readonly<Record<string, unknown>>, livemode: boolean) =>
  withoutLinks(arrivedIn(data), livemode)

/** The API shows absent values as null. */
const named = ({ address, name }: Arrived["to"][number]) => ({ address, name: name ?? null })

/** Makes records of the API of what the log says, with links to the files. */
export const withLinks =
  (links: AttachmentLinks.Links, account_id: AccountId, results?: RouteResults.Results) =>
  (mail: Arrived & Partial<InboundRecord>): InboundEmail => {
    const { attachments, ...record } = withoutLinks(mail, Livemode.isLive(account_id), results)
    const { expires_at, urlOf } = links(account_id, mail.inbound_id)
    return { ...record, attachments: attachments.map((file, nth) => ({ ...file, url: urlOf(nth), expires_at })) }
  }

/** `withLinks` for a client that has asked a host. `results` are those of the routes; without them, calls are pending. */
export const presenter = (account_id: AccountId, host: string | undefined, results?: RouteResults.Results) =>
  Effect.map(AttachmentLinks.linksFrom(host), (links) => withLinks(links, account_id, results))
