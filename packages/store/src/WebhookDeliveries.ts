import { type PgClient, PgTypes } from "@effect/sql-pg"
import type { WebhookDelivery } from "./Ledger.ts"

export const insert = (sql: PgClient.PgClient, deliveries: ReadonlyArray<WebhookDelivery>) => sql`
  INSERT INTO webhook_deliveries
    (account_id, id, webhook_id, event_id, event_type, stream_id, stream_version, created_at, next_attempt_at)
  SELECT account_id, id, webhook_id, event_id, event_type, stream_id, stream_version, created_at, created_at
  FROM jsonb_populate_recordset(NULL::webhook_deliveries, ${PgTypes.jsonb(deliveries)})
  ON CONFLICT (account_id, webhook_id, event_id) DO NOTHING`
