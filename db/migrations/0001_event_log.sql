-- The truth. One row is one fact; (account_id, stream_id, version) is the optimistic concurrency.
-- account_id leads every key of account data, so the tables can be distributed by account without a redesign.
-- CACHE 1 and nothing else: the feed's watermark is only right when positions are allocated one by one.
CREATE SEQUENCE event_position AS bigint CACHE 1;

CREATE TABLE events (
  position bigint NOT NULL DEFAULT nextval('event_position'),
  account_id text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  stream text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  data jsonb NOT NULL,
  meta jsonb NOT NULL,
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, stream_id, version)
);
CREATE UNIQUE INDEX events_by_position ON events (position);
CREATE INDEX events_by_account_position ON events (account_id, position);
ALTER SEQUENCE event_position OWNED BY events.position;

-- A claim is written in the transaction that appends; only answers that succeeded are kept.
CREATE TABLE idempotency_keys (
  account_id text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  answer bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, route, key)
);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

-- A row a pending delivery, webhook call or domain check: its own schedule, attempt and lease. graphile-worker's jobs
-- are only wake-ups for it.
CREATE TABLE outbox (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('delivery', 'webhook', 'domain_check')),
  stream_id text COLLATE "C" NOT NULL,
  available_at timestamptz NOT NULL,
  -- Its time has come. A claim looks among these alone, so that a million scheduled rows cost it nothing.
  ready boolean NOT NULL DEFAULT false,
  -- A site asked for a pause: whatever the log says is due, nothing is tried before.
  held_until timestamptz,
  attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  lease_token text COLLATE "C",
  lease_until timestamptz,
  lease_owner text COLLATE "C",
  payload jsonb NOT NULL,
  CHECK ((lease_token IS NULL) = (lease_until IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
-- Account by account: a claim hops from one to the next, and nobody's backlog stands before another's mail.
CREATE INDEX outbox_ready ON outbox (kind, account_id, available_at) WHERE ready AND lease_token IS NULL;
CREATE INDEX outbox_waiting ON outbox (available_at) WHERE NOT ready AND lease_token IS NULL;
CREATE INDEX outbox_leased ON outbox (lease_until) WHERE lease_token IS NOT NULL;
CREATE INDEX outbox_by_stream ON outbox (account_id, stream_id);

-- Bodies are not events: replay never reads them, and they expire. Equal content is kept once inside an account only.
CREATE TABLE content (
  account_id text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  bytes bytea NOT NULL,
  expires_on date NOT NULL,
  PRIMARY KEY (account_id, sha256)
);
CREATE INDEX content_by_expiry ON content (expires_on);
