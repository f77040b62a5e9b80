-- One row for each event and each webhook that subscribes to it: what was sent, what came back, how often.
CREATE TABLE webhook_deliveries (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  stream_version integer NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  -- The attempts themselves, oldest first: request, answer, timing.
  history jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (account_id, id)
);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (account_id, webhook_id, id);
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (account_id, webhook_id, event_id);
