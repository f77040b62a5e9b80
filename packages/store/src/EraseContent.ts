import type { PgClient } from "@effect/sql-pg"
import type * as Address from "@waybill/domain/Address"
import * as Email from "@waybill/domain/Email"
import { Effect } from "effect"

interface Place {
  readonly stream: string
  readonly stream_id: string
}

/**
 * Bodies are written to people: those of the messages named go, and their attachments. What others were sent as well stays
 * unless it names the address, and so does what a message under way is made of.
 */
export const erase = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  account_id: string,
  places: ReadonlyArray<Place>,
  address: Address.Address,
) {
  const messages = places.flatMap(({ stream, stream_id }) => (stream === Email.stream ? [stream_id] : []))
  if (messages.length === 0) return
  const removal = sql`
    WITH used AS MATERIALIZED (
      SELECT e.stream_id, e.stream_id = ANY(${messages}::text[]) AS named, part.sha256
      FROM events e CROSS JOIN LATERAL (
        SELECT e.data -> 'content' ->> 'sha256' AS sha256
        UNION SELECT a ->> 'sha256' FROM jsonb_array_elements(e.data -> 'content' -> 'attachments') AS a
      ) AS part
      WHERE e.account_id = ${account_id} AND e.type = 'EmailQueued'
    ), gone AS (
      SELECT u.sha256 FROM used u LEFT JOIN outbox o
        ON o.account_id = ${account_id} AND o.stream_id = u.stream_id AND o.kind = 'delivery'
      GROUP BY u.sha256 HAVING bool_or(u.named) AND count(o.id) = 0
    )
    DELETE FROM content c USING gone
    WHERE c.account_id = ${account_id} AND c.sha256 = gone.sha256
      AND (NOT EXISTS (SELECT 1 FROM used u WHERE u.sha256 = c.sha256 AND NOT u.named)
        OR position(convert_to(${address}, 'UTF8') IN c.bytes) > 0)`
  // It goes through all messages of the account, which may take longer than a request may.
  yield* Effect.orDie(sql.withTransaction(Effect.andThen(sql`SET LOCAL statement_timeout = 0`, removal)))
})
