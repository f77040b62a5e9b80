import type { Applied, Forwarded } from "@waybill/domain/inbound/InboundState"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import type { InboundRecord } from "@waybill/store/readmodels/Inbound"
import * as EmailLogRecord from "@waybill/store/readmodels/emails/EmailLogRecord"
import { Sql } from "@waybill/store/postgres/Sql"
import * as ReceivedCalls from "@waybill/store/webhooks/ReceivedCalls"
import { Array, Effect } from "effect"

/** Results of routes, which the events do not say. They are absent for mail that was recorded just now. */
export interface Results {
  readonly calls: ReadonlyArray<ReceivedCalls.ReceivedCall> | undefined
  /** Recipients of the emails that are forwards, by their status. */
  readonly emails: ReadonlyMap<EmailId, Readonly<Record<string, number>>> | undefined
}

export const UNKNOWN: Results = { calls: undefined, emails: undefined }

/** Reads the results of the routes and forwards of mails. */
export const of = Effect.fn("RouteResults.of")(function* (account_id: AccountId, mails: ReadonlyArray<InboundRecord>) {
  const called = mails.filter(({ routes }) => routes.some(({ action }) => action === "webhook"))
  const ids = called.map(({ inbound_id }) => inbound_id)
  const forwards = mails.flatMap((mail) => [...mail.routes, ...(mail.forwards ?? [])])
  const emails = forwards.flatMap(({ email_id }) => (email_id === undefined ? [] : [email_id]))
  return {
    calls: ids.length === 0 ? [] : yield* ReceivedCalls.list(account_id, ids),
    emails: emails.length === 0 ? new Map() : yield* countsOf(account_id, emails),
  } satisfies Results
})

/** Emails that are read before others have a turn: each mail of a page may have a hundred forwards. */
export const EMAILS_AT_ONCE = 200

const countsOf = Effect.fnUntraced(function* (account_id: AccountId, ids: ReadonlyArray<EmailId>) {
  const sql = yield* Sql
  const counts = new Map<EmailId, Readonly<Record<string, number>>>()
  for (const some of Array.chunksOf(ids, EMAILS_AT_ONCE))
    for (const [id, record] of yield* EmailLogRecord.find(sql, account_id, some))
      counts.set(id, record["recipient_counts"] as Readonly<Record<string, number>>)
  return counts
})

/** A route as a record shows it. */
export const shown =
  (inbound_id: string, results: Results) =>
  ({ action, route_id, webhook_id, ...forward }: Applied) => ({
    id: route_id,
    action,
    ...(action === "forward"
      ? forwardShown(results)(forward)
      : {
          result: action === "webhook" ? resultOfCalls(callsOf(results, inbound_id, webhook_id)) : DONE[action],
          email_id: null,
          reason: null,
        }),
  })

const DONE = { reject: "rejected", drop: "dropped", store: "stored" } as const

/** A forward as a record shows it. */
export const forwardShown =
  (results: Results) =>
  ({ email_id, refusal }: Forwarded) => ({
    result: email_id === undefined ? "failed" : resultOfEmail(results, email_id),
    email_id: email_id ?? null,
    reason: refusal ?? null,
  })

const WORST_FIRST = "bounced failed complained suppressed canceled queued deferred sent delivered".split(" ")
const IN_PROGRESS: ReadonlySet<string> = new Set(["queued", "deferred"])

/** The worst state of the recipients: with two of whom one bounced, the forward bounced. */
const resultOfEmail = ({ emails }: Results, id: EmailId): string => {
  const counts = emails === undefined ? {} : emails.get(id)
  // Retention removes emails earlier than received mail.
  if (counts === undefined) return "removed"
  const worst = WORST_FIRST.find((status) => (counts[status] ?? 0) > 0) ?? "queued"
  return IN_PROGRESS.has(worst) ? "pending" : worst
}

const callsOf = ({ calls }: Results, inbound_id: string, webhook_id: string | undefined) =>
  calls?.filter(
    (call) => call.inbound_id === inbound_id && (webhook_id === undefined || call.webhook_id === webhook_id),
  )

/** The worst state of the calls; `none` if there is no webhook to call. */
const resultOfCalls = (calls: ReadonlyArray<ReceivedCalls.ReceivedCall> | undefined) =>
  calls === undefined
    ? "pending"
    : ((["failed", "pending", "delivered"] as const).find((state) => calls.some(({ status }) => status === state)) ??
      "none")
