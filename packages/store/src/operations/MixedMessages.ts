import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import { Effect } from "effect"
import * as EmailLogRecord from "../readmodels/emails/EmailLogRecord.ts"
import * as IdKey from "../postgres/IdKey.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import type { Sql } from "../postgres/Sql.ts"

/** Messages folded at a time. */
const PAGE_MESSAGES = 1_000

interface MixedMessage {
  readonly account_id: string
  readonly id: string
  /** Number of final recipients. */
  readonly final: number
}

const keyOf = (id: string | undefined): IdKey.IdKey => (id === undefined ? IdKey.LOWEST : IdKey.of(id))

/** Returns the messages whose recipients have different statuses. Only their histories say how many have which. */
export const list = Effect.fnUntraced(function* (sql: Sql) {
  const mixed: Array<MixedMessage> = []
  while (true) {
    const last = mixed.at(-1)
    const page = yield* sql<Omit<MixedMessage, "final"> & { readonly history: EmailLogRecord.History }>`
      SELECT l.account_id, l.id, ${EmailLogRecord.history(sql, sql`l.account_id`, sql`l.id`)} AS history FROM (
        SELECT id_of('acc', account_id) AS account_id, id_of('msg', id) AS id FROM email_log l
        WHERE l.facets & ${EmailFacets.any(EmailStatus.ALL)}::int <> 0
          AND (l.account_id, l.id) > (${keyOf(last?.account_id)}::uuid, ${keyOf(last?.id)}::uuid)
        ORDER BY l.account_id, l.id LIMIT ${PAGE_MESSAGES}::int) AS l`
    for (const { account_id, history, id } of page) {
      const counts = EmailLogRecord.fold(id, history)?.["recipient_counts"] as EmailStatus.Counts | undefined
      const final = EmailStatus.ALL.filter(EmailStatus.isFinal).reduce((sum, each) => sum + (counts?.[each] ?? 0), 0)
      mixed.push({ account_id, id, final })
    }
    if (page.length < PAGE_MESSAGES) return mixed
  }
})
