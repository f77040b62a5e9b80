import { CurrentKey } from "@waybill/api/middleware/Authorization"
import { MAX_THREAD, type ThreadEntry } from "@waybill/api/groups/Inbound"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as Thread from "@waybill/domain/inbound/Thread"
import type * as Id from "@waybill/domain/values/Id"
import * as InboundMail from "@waybill/store/readmodels/Inbound"
import { Sql } from "@waybill/store/postgres/Sql"
import * as EmailLogRecord from "@waybill/store/readmodels/emails/EmailLogRecord"
import { Effect } from "effect"
import * as Records from "../../../web/Records.ts"

/** Returns a conversation: the mails that came for a thread, the sent emails that they answer, and those that answer them. */
export const readThread = Effect.fnUntraced(function* (id: Id.ThreadId) {
  const { account_id } = yield* CurrentKey
  const { data: received } = yield* InboundMail.list({ account_id, thread_id: id, limit: MAX_THREAD })
  const answered = received.flatMap(({ email_id, replies }) => [...(email_id === null ? [] : [email_id]), ...replies])
  // Ids begin with their time. Each mail may name a hundred answers, and only the newest entries are shown.
  const ids = [...new Set([Thread.emailAtStart(id), ...answered])].toSorted().slice(-MAX_THREAD)
  const emails = yield* EmailLogRecord.find(yield* Sql, account_id, ids)
  const sent = [...emails.values()].map(sentEntry)
  const data = [...sent, ...received.map(receivedEntry)].toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
  if (data.length === 0) return yield* new InboundRefusal.ThreadNotFound()
  return { object: "thread" as const, id, data: data.slice(-MAX_THREAD) }
})

const sentEntry = (row: EmailLogRecord.EmailLogRecord): ThreadEntry => {
  const { created_at, from, id, status, subject, to } = Records.emailRecord(row)
  return { direction: "sent", id, from, to, subject, status, created_at }
}

const receivedEntry = ({
  at,
  envelope,
  from,
  inbound_id,
  status,
  subject,
  to,
}: InboundMail.InboundRecord): ThreadEntry => ({
  direction: "received",
  id: inbound_id,
  from: from === null ? envelope.from : from.name === undefined ? from.address : `${from.name} <${from.address}>`,
  to: to.length === 0 ? envelope.to : to.map(({ address }) => address),
  subject,
  status,
  created_at: at,
})
