-- cells: database
-- All tables of Waybill, by family. `account_id` leads every key of the data of an account, so that a cell can hold the tables of
-- some accounts (docs/scaling.md). This file is the base of every installation: later changes are files of their own.
--
-- A row of a read model is folded from one stream: `version` is that of its last event, columns are what a query filters by, and
-- `record` is the answer.

-- Both come with Postgres, and the owner of a database may create them.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

--------------------------------------------------------------------------------------------------------------------------------
-- The log
--------------------------------------------------------------------------------------------------------------------------------

-- Positions of events. CACHE 1 and nothing else: the feed's watermark is only right if positions are allocated one by one.
CREATE SEQUENCE event_position AS bigint CACHE 1;

-- cells: every
-- The source of truth: a row is a fact. (account_id, stream_id, version) is the optimistic concurrency. Statistics that serve no
-- plan are off, because ANALYZE sorts a sample of each column for them.
CREATE TABLE events (
  position bigint NOT NULL DEFAULT nextval('event_position'),
  account_id text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  stream text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  data jsonb,
  meta jsonb,
  recorded_at timestamptz NOT NULL,
  -- The fields of a message's event, which then has neither `data` nor `meta`: without names, in the order of their layout
  -- (packages/store/src/packed), and separated by tabs. It takes a third of the bytes of JSON.
  packed text COLLATE "C",
  PRIMARY KEY (account_id, stream_id, version),
  CONSTRAINT events_packed_check CHECK (
    CASE WHEN packed IS NULL THEN data IS NOT NULL AND meta IS NOT NULL ELSE data IS NULL AND meta IS NULL END)
) WITH (autovacuum_analyze_scale_factor = 0.3);
ALTER TABLE events
  ALTER COLUMN event_id SET STATISTICS 0,
  ALTER COLUMN data SET STATISTICS 0,
  ALTER COLUMN meta SET STATISTICS 0;
CREATE UNIQUE INDEX events_by_position ON events (position);
CREATE INDEX events_by_account_position ON events (account_id, position);
-- Who did what, newest first: without the many events of mail, and without what the service did by itself.
CREATE INDEX events_audit ON events (account_id, position)
  WHERE stream <> 'email' AND meta -> 'actor' ->> 'type' <> 'system';
-- cells: database
ALTER SEQUENCE event_position OWNED BY events.position;

-- cells: server
-- The servers on which the log was written, one after another. A promoted replica, a restored archive and a dump in another
-- database are other servers: positions that the server before gave out last may be lost, so they continue beyond those.
CREATE TABLE log_epochs (
  epoch integer PRIMARY KEY CHECK (epoch >= 1),
  -- System identifier, timeline and database.
  server text COLLATE "C" NOT NULL,
  -- The last known position when the epoch began, and the one that it continues after.
  last_position bigint NOT NULL,
  after_position bigint NOT NULL CHECK (after_position >= last_position),
  began_at timestamptz NOT NULL DEFAULT now()
);

-- cells: every
-- How far each follower of the log has come. It moves in the transaction that writes what the follower has counted.
CREATE TABLE followers (
  name text COLLATE "C" PRIMARY KEY,
  position bigint NOT NULL,
  moved_at timestamptz NOT NULL DEFAULT now(),
  -- Counts before this time were dropped, month by month, and are not counted again.
  kept_from timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO followers (name, position) VALUES ('email_stats', 0), ('search_words', 0), ('log_tree', 0);

-- cells: home
-- Kinds of events that every node of this installation can read, with the version of their data: EmailQueued/1. A kind is added
-- once all live nodes know it, and never removed. Events of other kinds are not written yet.
CREATE TABLE event_kinds (
  kind text COLLATE "C" PRIMARY KEY,
  opened_at timestamptz NOT NULL DEFAULT now()
);

-- cells: every
-- The tables that a read model was built into. The live one has the name of the read model. A read model without a row here was
-- never rebuilt, and its live table is version 1.
CREATE TABLE projection_versions (
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  state text COLLATE "C" NOT NULL CHECK (state IN ('building', 'ready', 'live', 'kept')),
  -- The rows hold every event up to here. Meaningless for a live table, because commits write into it.
  position bigint NOT NULL,
  -- Number of events that the fill has folded.
  events bigint NOT NULL DEFAULT 0,
  -- Time of work, without the pauses between two runs.
  worked_ms bigint NOT NULL DEFAULT 0,
  -- The release that folds. Another one begins the fill again.
  release text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  PRIMARY KEY (name, version)
);
CREATE UNIQUE INDEX projection_versions_live ON projection_versions (name) WHERE state = 'live';
CREATE UNIQUE INDEX projection_versions_building ON projection_versions (name) WHERE state = 'building';

-- Slices of the log, in the order of its key, that a fill has given out. `done` is set in the transaction that writes the rows of
-- the slice, so that a fill continues after a kill without doing anything twice.
CREATE TABLE projection_slices (
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  nth integer NOT NULL,
  after_account text COLLATE "C" NOT NULL,
  after_stream text COLLATE "C" NOT NULL,
  upto_account text COLLATE "C",
  upto_stream text COLLATE "C",
  done boolean NOT NULL DEFAULT false,
  PRIMARY KEY (name, version, nth),
  FOREIGN KEY (name, version) REFERENCES projection_versions ON DELETE CASCADE,
  CHECK ((upto_account IS NULL) = (upto_stream IS NULL))
);

--------------------------------------------------------------------------------------------------------------------------------
-- The log as a signed tree of hashes
--------------------------------------------------------------------------------------------------------------------------------

-- Leaves of the events of a stream in the tree of the cell's log, and the salt without which they say nothing. Small: there is a
-- row for each message, which is found by the UUID in its id.
CREATE TABLE log_leaves (
  stream_key uuid PRIMARY KEY,
  -- Null once the data was erased.
  salt bytea,
  -- The index of each event in 6 bytes, from version 1.
  leaves bytea NOT NULL
)
-- Later events of a message change its row in place, without an entry more in the index.
WITH (fillfactor = 90);

-- Hashes of the tree, 256 of a level in a row.
CREATE TABLE log_tiles (
  level integer NOT NULL,
  n bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (level, n)
);

-- Number of leaves, and the hash of all of them. A single row.
CREATE TABLE log_heads (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  size bigint NOT NULL,
  root bytea NOT NULL,
  -- Until then a process asks the witnesses, and no other one does.
  asked_until timestamptz
);

-- Names under which the tree was signed, the last one now. A log that may have lost leaves goes on under another name.
CREATE TABLE log_trees (
  tree integer PRIMARY KEY,
  origin text COLLATE "C" NOT NULL,
  epoch text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  note text COLLATE "C" NOT NULL,
  signed_at timestamptz NOT NULL
);

-- Accounts that came from another cell with events that this tree did not have.
CREATE TABLE log_arrivals (
  account text COLLATE "C" PRIMARY KEY,
  -- The events up to this position have leaves.
  position bigint NOT NULL,
  last_position bigint NOT NULL
);

-- cells: home
-- Keys that sign the heads of the logs of all cells; their secrets are sealed in `secrets`.
CREATE TABLE log_keys (
  number integer PRIMARY KEY,
  public_key bytea NOT NULL,
  began_at timestamptz NOT NULL,
  -- Null for the present key.
  ends_at timestamptz
);

-- cells: every
-- Heads of the tree that witnesses have signed: the newest one that so many have. Keys and signatures are in the same order.
CREATE TABLE log_cosignatures (
  tree integer NOT NULL,
  size bigint NOT NULL,
  note text COLLATE "C" NOT NULL,
  witnesses text[] COLLATE "C" NOT NULL,
  cosignatures text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (tree, size)
);

--------------------------------------------------------------------------------------------------------------------------------
-- Work
--------------------------------------------------------------------------------------------------------------------------------

-- Pending deliveries, webhook calls, domain checks and advances of test clocks, each with its time, attempt and lease. The jobs of
-- graphile-worker only wake a worker for them.
CREATE TABLE outbox (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('delivery', 'webhook', 'domain_check', 'test_clock')),
  stream_id text COLLATE "C" NOT NULL,
  available_at timestamptz NOT NULL,
  -- Whether the row is due. A claim looks only among these, so that a million scheduled rows cost it nothing.
  ready boolean NOT NULL DEFAULT false,
  -- The end of a pause that a site asked for: nothing is tried before, whatever the log says is due.
  held_until timestamptz,
  attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  lease_token text COLLATE "C",
  lease_until timestamptz,
  lease_owner text COLLATE "C",
  payload jsonb NOT NULL,
  -- The test clock that the row lives on, and its time on that clock. While the row waits for its clock, `available_at` is far in
  -- the future, so that no statement of work on real time sees it.
  clock text COLLATE "C",
  clock_due timestamptz,
  CHECK ((lease_token IS NULL) = (lease_until IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE outbox ALTER COLUMN payload SET STATISTICS 0;
-- By account: a claim goes from one account to the next, so that nobody's backlog stands before the mail of others.
CREATE INDEX outbox_ready ON outbox (kind, account_id, available_at) WHERE ready AND lease_token IS NULL;
CREATE INDEX outbox_waiting ON outbox (available_at) WHERE NOT ready AND lease_token IS NULL;
CREATE INDEX outbox_leased ON outbox (lease_until) WHERE lease_token IS NOT NULL;
-- Deliveries of queued messages apart from those of deferred ones, whose rows have a payload. Entries of an account share one key.
CREATE INDEX outbox_by_account ON outbox (account_id, (payload = '{}')) WHERE kind = 'delivery';
CREATE INDEX outbox_by_webhook ON outbox (account_id, stream_id) WHERE kind = 'webhook';
CREATE INDEX outbox_by_clock ON outbox (clock, available_at, clock_due) WHERE clock IS NOT NULL;

-- cells: server
CREATE SEQUENCE process_number AS integer CACHE 1 CYCLE;

-- Processes that may hold leases. Each holds a session lock on its number while it lives: whoever gets that lock knows that the
-- former holder is dead, and is the only one to know it.
CREATE TABLE processes (
  id text COLLATE "C" PRIMARY KEY,
  number integer NOT NULL,
  -- By which graphile-worker has locked its jobs; those locks outlive a kill by hours.
  worker_ids text[] NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  beat_at timestamptz NOT NULL DEFAULT now()
);
ALTER SEQUENCE process_number OWNED BY processes.number;

-- cells: home
-- Running nodes, of every role, and the kinds of events that each can read. A node whose last beat is too old is dead.
CREATE TABLE nodes (
  id text COLLATE "C" PRIMARY KEY,
  release text NOT NULL,
  kinds text[] NOT NULL,
  beat_at timestamptz NOT NULL DEFAULT now()
);

--------------------------------------------------------------------------------------------------------------------------------
-- Accounts, members and keys
--------------------------------------------------------------------------------------------------------------------------------

-- cells: every
-- Accounts, with their plan, limits and periods of retention. A read model.
CREATE TABLE accounts (
  account_id text COLLATE "C" PRIMARY KEY,
  version integer NOT NULL,
  plan text COLLATE "C" NOT NULL,
  record jsonb NOT NULL
);
-- Accounts whose tracked links an operator has stopped. Every node asks for them every few seconds.
CREATE INDEX accounts_links_stopped ON accounts (account_id) WHERE record ? 'links_stopped_at';

-- Users of an account, with role and status. A read model.
CREATE TABLE members (
  account_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  email text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  record jsonb NOT NULL,
  PRIMARY KEY (account_id, user_id)
);
-- A user belongs to one account.
CREATE UNIQUE INDEX members_by_user ON members (user_id) WHERE status <> 'removed';
CREATE UNIQUE INDEX members_by_email ON members (account_id, lower(email)) WHERE status <> 'removed';

-- API keys by their hash: what each allows. A read model.
CREATE TABLE api_keys (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  hash text COLLATE "C" NOT NULL,
  scopes text[] NOT NULL,
  domain text COLLATE "C",
  allowed_ips text[] NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  record jsonb NOT NULL,
  -- The test mail of an account is in an account of its own (test_account_of), so no table of mail needs such a column.
  mode text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
  -- The test clock that the mail of a test key lives on.
  test_clock text COLLATE "C",
  PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash);

-- The last use of each key: an observation, not a fact of the log. Written in batches, never once a request.
CREATE TABLE api_key_uses (
  account_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key_id)
);

-- cells: server
-- Requests in fixed windows of one minute by the clock of this server, for all nodes. UNLOGGED: a crash forgets at most a minute,
-- and no request waits for a flush. Free space in each page keeps the updates of a busy window in place.
CREATE UNLOGGED TABLE rate_windows (
  bucket text COLLATE "C" NOT NULL,
  window_start timestamptz NOT NULL,
  count integer NOT NULL CHECK (count >= 1),
  PRIMARY KEY (bucket, window_start)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- cells: every
-- Accepted recipients of each account and UTC month. Canceled mail is refunded.
CREATE TABLE monthly_usage (
  account_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL CHECK (month ~ '^\d{4}-\d{2}$'),
  accepted bigint NOT NULL,
  PRIMARY KEY (account_id, month)
) WITH (fillfactor = 50);

-- Bounds what an account stores for mail that costs no volume: scheduled mail, which can be canceled, and canceled mail.
CREATE TABLE unsent_mail (
  account_id text COLLATE "C" NOT NULL,
  -- In which the mail was accepted.
  month text COLLATE "C" NOT NULL CHECK (month ~ '^\d{4}-\d{2}$'),
  -- Of the content of scheduled mail that is not sent yet, and of canceled mail whose content is still stored.
  bytes bigint NOT NULL DEFAULT 0,
  -- Canceled recipients that were refunded to the monthly volume.
  refunded bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, month)
) WITH (fillfactor = 50);

-- First answers of requests with an idempotency key, written in the transaction that appends the events. Answers of failed
-- requests are not kept.
CREATE TABLE idempotency_keys (
  account_id text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  answer bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, route, key)
);
ALTER TABLE idempotency_keys ALTER COLUMN answer SET STATISTICS 0;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

-- Private keys and signing secrets, sealed under the instance key that key_id names. `id` is that of the owner's stream, so that
-- the log tells whether the owner of a secret was ever committed.
CREATE TABLE secrets (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  nonce bytea NOT NULL CHECK (octet_length(nonce) = 12),
  ciphertext bytea NOT NULL CHECK (octet_length(ciphertext) >= 16),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  PRIMARY KEY (account_id, id, purpose)
);
CREATE INDEX secrets_by_key ON secrets (key_id);
CREATE INDEX secrets_by_expiry ON secrets (expires_at) WHERE expires_at IS NOT NULL;

-- API calls of accounts, refused ones too, with masked bodies. A row is written after its answer, and not at all under pressure.
-- An id begins with the time of its call, so a day is a range of ids: a table of its own, which is dropped as a whole.
CREATE TABLE request_log (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  -- Masked query without its question mark; empty if there is none.
  query text NOT NULL,
  -- NULL if the client left before the answer.
  status integer,
  -- Reason of a refusal.
  reason text COLLATE "C",
  api_key_id text COLLATE "C",
  user_id text COLLATE "C",
  address text NOT NULL,
  duration_ms integer NOT NULL,
  -- Bytes of the body that were sent, and the masked and perhaps cut body; empty if there is none.
  body_bytes integer NOT NULL,
  body text NOT NULL,
  livemode boolean NOT NULL DEFAULT true,
  -- Masked answer of a call that changes something or was refused; empty for other calls.
  answer text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, id)
) PARTITION BY RANGE (id);
-- Most calls are accepted sends, so the indexes below leave those out where they can.
CREATE INDEX request_log_refused ON request_log (account_id, status, id) WHERE status >= 400 OR status IS NULL;
CREATE INDEX request_log_by_key ON request_log (account_id, api_key_id, id);
CREATE INDEX request_log_by_path ON request_log (account_id, path, id) WHERE path <> '/v1/email/send';

-- cells: home
-- Rows and bytes of the request log by UTC day, and calls that were only counted: of each key or member, of each account (the
-- caller is empty), and of the instance (both are empty). All processes share the bounds of a day by these sums. A row is updated
-- twice a second and has no other index, so free space keeps its versions on the same page.
CREATE TABLE request_log_counts (
  account_id text COLLATE "C" NOT NULL,
  caller_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  kept_rows bigint NOT NULL,
  kept_bytes bigint NOT NULL,
  not_kept bigint NOT NULL,
  PRIMARY KEY (account_id, caller_id, day)
) WITH (fillfactor = 50);

--------------------------------------------------------------------------------------------------------------------------------
-- Sign-in to the dashboard: the shape of these tables is that of the sign-in library, under names of our own. The log says which
-- account a user belongs to and with which role (`members`)
--------------------------------------------------------------------------------------------------------------------------------

-- Users of the dashboard, each of one account, and operators.
CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY,
  -- Not unique: an address may be that of a user in each of several accounts.
  email text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  name text NOT NULL DEFAULT '',
  email_verified boolean NOT NULL DEFAULT true,
  image text,
  updated_at timestamptz NOT NULL DEFAULT now(),
  two_factor_enabled boolean NOT NULL DEFAULT false,
  -- Sees the whole instance.
  operator boolean NOT NULL DEFAULT false,
  -- Changes of the password and of second factors so far. A sign-in that began before one of them ends with it.
  proof_version integer NOT NULL DEFAULT 0
);
CREATE INDEX users_by_email ON users (email);

-- Ways in which a user signs in: a password, and one identity of each provider.
CREATE TABLE user_credentials (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id text COLLATE "C" NOT NULL,
  -- The provider's name for the user; for a password the user's id.
  subject text COLLATE "C" NOT NULL,
  issuer text COLLATE "C",
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (provider_id, subject)
);
CREATE INDEX user_credentials_by_user ON user_credentials (user_id);
CREATE UNIQUE INDEX user_credentials_by_provider ON user_credentials (user_id, provider_id);

-- Browsers that are signed in.
CREATE TABLE user_sessions (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token text COLLATE "C" NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  ip_address text,
  user_agent text
);
CREATE INDEX user_sessions_by_user ON user_sessions (user_id);

-- What is valid for a short time: a link that sets a password, a challenge, a half-finished sign-in.
CREATE TABLE user_verifications (
  id text COLLATE "C" PRIMARY KEY,
  identifier text COLLATE "C" NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX user_verifications_by_identifier ON user_verifications (identifier);
CREATE INDEX user_verifications_by_expiry ON user_verifications (expires_at);

-- Authenticators. The library encrypts the secret and the codes under a key derived from that of the instance.
CREATE TABLE user_two_factors (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  secret text NOT NULL,
  backup_codes text NOT NULL,
  verified boolean NOT NULL DEFAULT true,
  failed_verification_count integer NOT NULL DEFAULT 0,
  locked_until timestamptz,
  -- Time step of the newest code that was accepted; this step and older ones are refused.
  last_step bigint
);
CREATE INDEX user_two_factors_by_user ON user_two_factors (user_id);

CREATE TABLE user_passkeys (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text,
  public_key text NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  counter bigint NOT NULL,
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  transports text,
  aaguid text,
  created_at timestamptz
);
CREATE INDEX user_passkeys_by_user ON user_passkeys (user_id);
CREATE UNIQUE INDEX user_passkeys_by_credential ON user_passkeys (credential_id);

-- Attempts to sign in, for all nodes.
CREATE TABLE user_rate_limits (
  id text COLLATE "C" PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  count integer NOT NULL,
  last_request bigint NOT NULL
);

-- Searches of the dashboard that a user has named. They are settings of a user, so the log does not record them.
CREATE TABLE saved_views (
  account_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- The text of the search box.
  search text NOT NULL,
  PRIMARY KEY (account_id, user_id, name)
);
CREATE INDEX saved_views_by_user ON saved_views (user_id);

--------------------------------------------------------------------------------------------------------------------------------
-- Domains and reports about them
--------------------------------------------------------------------------------------------------------------------------------

-- cells: every
-- Domains that accounts send from, with their DNS records. A read model.
CREATE TABLE domains (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  removed boolean NOT NULL,
  record jsonb,
  PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX domains_by_name ON domains (account_id, name) WHERE NOT removed;
-- For reports, which name a domain and no account. By an expression: Postgres would use an index of the name alone for a domain of
-- one account too, and read all accounts that have this name.
CREATE INDEX domains_of_all_accounts ON domains (md5(name)) WHERE NOT removed;
-- Names of customers that tracked links lead over. Every node asks for them every few seconds.
CREATE INDEX domains_tracking ON domains (account_id, id)
  WHERE record -> 'tracking_domain' ->> 'verified' = 'true' AND record ->> 'verified_at' IS NOT NULL;

-- cells: home
-- TLS policies of recipients' domains (MTA-STS, RFC 8461), so that a process that starts knows what another one has learnt,
-- whatever happens to DNS and to the host of the policy meanwhile.
CREATE TABLE mta_sts_policies (
  domain text COLLATE "C" PRIMARY KEY,
  -- By which the record of the domain announced the policy.
  id text COLLATE "C" NOT NULL,
  policy jsonb NOT NULL CHECK (octet_length(policy::text) <= 131072),
  fetched_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- Day of the last mail to the domain.
  used_at timestamptz NOT NULL DEFAULT now(),
  refresh_at timestamptz NOT NULL
);
CREATE INDEX mta_sts_policies_by_refresh ON mta_sts_policies (refresh_at);

-- cells: every
-- Aggregate reports about domains of accounts, of DMARC (RFC 7489) and of TLS (RFC 8460). A row counts a report once.
CREATE TABLE domain_reports (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('dmarc', 'tls')),
  -- Whether the reporter's domain signed the mail. Other reports are shown apart.
  verified boolean NOT NULL,
  -- Domain that signed the mail, or only claims to have sent it.
  reporter text COLLATE "C" NOT NULL,
  -- SHA-256 of the reporter, its id of the report, and the domain that the report is about.
  hash bytea NOT NULL,
  org_name text NOT NULL,
  -- UTC day on which the period of the report begins.
  day date NOT NULL,
  began_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, domain_id, kind, verified, hash)
);
CREATE INDEX domain_reports_by_day ON domain_reports (day);

-- Mail in the name of a domain, as DMARC reports count it.
CREATE TABLE dmarc_sources (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  -- Address of the server that sent the mail; empty for the sources of a report beyond its limit, together.
  source text COLLATE "C" NOT NULL,
  disposition text COLLATE "C" NOT NULL CHECK (disposition IN ('none', 'quarantine', 'reject')),
  dkim_aligned boolean NOT NULL,
  spf_aligned boolean NOT NULL,
  messages bigint NOT NULL,
  -- Domain of a signature and of the return path, from one of the messages.
  dkim_domain text,
  spf_domain text,
  PRIMARY KEY (account_id, domain_id, day, verified, reporter, source, disposition, dkim_aligned, spf_aligned)
);
CREATE INDEX dmarc_sources_by_day ON dmarc_sources (day);

-- Mail to which receivers did not apply the policy of a domain, as DMARC reports count it by reason. Mail with several reasons
-- counts for each of them.
CREATE TABLE dmarc_overrides (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  -- As in dmarc_sources.
  source text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  messages bigint NOT NULL,
  -- Words of the reporter, from one of its records.
  comment text,
  PRIMARY KEY (account_id, domain_id, day, verified, reporter, source, reason)
);
CREATE INDEX dmarc_overrides_by_day ON dmarc_overrides (day);

-- Sessions with the mail servers of a domain, as TLS reports count them.
CREATE TABLE tls_results (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL CHECK (policy IN ('sts', 'tlsa', 'no-policy-found')),
  -- Kind of failure; empty for sessions that succeeded.
  failure text COLLATE "C" NOT NULL,
  -- Mail server of failed sessions; empty if the report does not name it.
  server text COLLATE "C" NOT NULL,
  sessions bigint NOT NULL,
  PRIMARY KEY (account_id, domain_id, day, verified, reporter, policy, failure, server)
);
CREATE INDEX tls_results_by_day ON tls_results (day);

--------------------------------------------------------------------------------------------------------------------------------
-- Messages
--------------------------------------------------------------------------------------------------------------------------------

-- Messages by what they are found by: hashes of its sender, its domain, its subject, one of its recipients and one of its tags. Ids are
-- UUIDs (id_key) and terms are hashes (term_key), so that all rows and index entries have one length. Free space in each page
-- keeps the outcomes of its messages on it, without new entries in each index.
CREATE TABLE email_log (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  from_key bigint NOT NULL,
  subject_key bigint NOT NULL,
  -- The lowest key of a recipient, and of a tag. Further ones are in email_log_terms.
  to_key bigint NOT NULL,
  tag_key bigint,
  domain_key integer NOT NULL,
  version integer NOT NULL,
  -- A number of EmailFacets.ts.
  -- squawk-ignore prefer-bigint-over-smallint
  status smallint NOT NULL,
  -- The status, or 0 if it is one that nearly all messages have: queued or delivered. No index has the status itself, so that the
  -- delivery of a message changes only its row.
  -- squawk-ignore prefer-bigint-over-smallint
  listed smallint NOT NULL DEFAULT 0,
  -- Bits of EmailFacets.ts that say more than the status; 0 for nearly all messages, which the index leaves out.
  -- squawk-ignore prefer-bigint-over-smallint
  facets smallint NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.3,
  fillfactor = 80
);
CREATE INDEX email_log_by_from ON email_log (account_id, from_key, id);
CREATE INDEX email_log_by_domain ON email_log (account_id, domain_key, id);
CREATE INDEX email_log_by_subject ON email_log (account_id, subject_key, id);
CREATE INDEX email_log_by_to ON email_log (account_id, to_key, id);
CREATE INDEX email_log_by_tag ON email_log (account_id, tag_key, id) WHERE tag_key IS NOT NULL;
CREATE INDEX email_log_by_status ON email_log (account_id, listed, id) WHERE listed > 0;
CREATE INDEX email_log_by_facets ON email_log (account_id, facets, id) WHERE facets > 0;

-- Metadata, and further recipients and tags of messages, in the order of the log, so that a rare one is found without a scan.
CREATE TABLE email_log_terms (
  account_id uuid NOT NULL,
  term bigint NOT NULL,
  email_id uuid NOT NULL,
  PRIMARY KEY (account_id, term, email_id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.3);

-- Subjects of an account, each once: much mail has the same subject, so the large index on parts of a text grows with the number
-- of subjects. `folded` is ASCII (EmailSubjects.ts), because the letters that pg_trgm sees depend on the locale of the database.
CREATE TABLE email_subjects (
  account_id uuid NOT NULL,
  term bigint NOT NULL,
  folded text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, term)
) WITH (autovacuum_analyze_scale_factor = 0.3);
CREATE INDEX email_subjects_by_part ON email_subjects USING gin (account_id, folded gin_trgm_ops);

-- Addresses of recipients and senders, and tags, for a search by a part of them. A follower of the log writes them after the
-- commits; mail that it has not read yet is searched in the log itself.
CREATE TABLE email_words (
  account_id uuid NOT NULL,
  -- The text whose hash is the key of its messages: to:ana@example.org, tag:receipt.
  term text COLLATE "C" NOT NULL,
  -- The address or the tag, folded like a subject.
  folded text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, term)
) WITH (autovacuum_analyze_scale_factor = 0.3);
CREATE INDEX email_words_by_part ON email_words USING gin (account_id, folded gin_trgm_ops);

-- Spans of about half a minute in which an API key sent mail.
CREATE TABLE email_key_spans (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  -- Milliseconds of the time in an id, without the lowest 15 bits.
  span integer NOT NULL,
  PRIMARY KEY (account_id, api_key_id, span)
) WITH (autovacuum_analyze_scale_factor = 0.3);

-- What happened to the mail of an account, by the hour in which it happened. Only counts, so that hours, domains and tags are
-- merged by adding. A message counts once under the empty tag, and once more under each of its tags.
CREATE TABLE email_stats (
  account_id text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  hour timestamptz NOT NULL,
  domain text COLLATE "C" NOT NULL,
  measure text COLLATE "C" NOT NULL,
  -- 0, or the class of a latency (EmailStats.ts).
  bucket integer NOT NULL,
  count bigint NOT NULL CHECK (count >= 1),
  PRIMARY KEY (account_id, tag, hour, domain, measure, bucket)
);

-- Bodies and attachments. They are not events: a replay never reads them, and they expire. Equal content is kept once, inside an
-- account only.
CREATE TABLE content (
  account_id text COLLATE "C" NOT NULL,
  sha256 bytea NOT NULL,
  bytes bytea NOT NULL,
  expires_on date NOT NULL,
  -- Whether `bytes` are compressed with zstd.
  compressed boolean NOT NULL DEFAULT false,
  -- Number of parts of messages that use the content and are not canceled.
  uses integer NOT NULL,
  PRIMARY KEY (account_id, sha256)
) WITH (autovacuum_analyze_scale_factor = 0.3);
ALTER TABLE content
  ALTER COLUMN sha256 SET STATISTICS 0,
  ALTER COLUMN bytes SET STATISTICS 0;
CREATE INDEX content_by_expiry ON content (expires_on);

-- Canceled mail whose content is still stored.
CREATE TABLE canceled_content (
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  -- Of each part, as often as the message has it.
  hashes text[] COLLATE "C" NOT NULL,
  canceled_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, email_id)
);
CREATE INDEX canceled_content_by_time ON canceled_content (canceled_at);

-- Mail that the sandbox has taken. A message has one row: what is tried again is the same mail to the last byte.
CREATE TABLE sandbox_messages (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  recipients text[] COLLATE "C" NOT NULL,
  subject text NOT NULL,
  mail_from text NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
ALTER TABLE sandbox_messages ALTER COLUMN bytes SET STATISTICS 0;
CREATE INDEX sandbox_messages_by_expiry ON sandbox_messages (expires_at);

-- Reports (bounces, complaints) whose parsing was ended: by its deadline, its memory limit or a fault of the parser. An operator
-- reads them. A report has a row for each return path that it was addressed to.
CREATE TABLE unread_reports (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Email and recipient that the return path names.
  email_id text COLLATE "C" NOT NULL,
  recipient_index integer NOT NULL,
  -- 'domain' where the return path stands for all recipients of that recipient's domain.
  scope text COLLATE "C",
  -- Address of the client that delivered the report.
  address text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL CHECK (reason IN ('deadline', 'memory', 'crash')),
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, id)
);
ALTER TABLE unread_reports ALTER COLUMN bytes SET STATISTICS 0;
CREATE INDEX unread_reports_by_email ON unread_reports (account_id, email_id);
CREATE INDEX unread_reports_by_time ON unread_reports (received_at);

-- Addresses that an account does not send to. A read model.
CREATE TABLE suppressions (
  account_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  id text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  active boolean NOT NULL,
  record jsonb NOT NULL,
  PRIMARY KEY (account_id, address)
);
CREATE UNIQUE INDEX suppressions_by_id ON suppressions (account_id, id) WHERE active;

-- Test clocks with their time. A read model.
CREATE TABLE test_clocks (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed boolean NOT NULL,
  record jsonb NOT NULL,
  PRIMARY KEY (account_id, id)
);

--------------------------------------------------------------------------------------------------------------------------------
-- Received mail
--------------------------------------------------------------------------------------------------------------------------------

-- Mail that was received. A read model.
CREATE TABLE inbound (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C",
  message_id text COLLATE "C",
  deleted boolean NOT NULL,
  record jsonb,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX inbound_by_thread ON inbound (account_id, thread_id, id);
CREATE INDEX inbound_by_message_id ON inbound (account_id, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX inbound_by_email ON inbound (account_id, email_id, id) WHERE email_id IS NOT NULL;

-- Received mail as it came, for as long as it is kept.
CREATE TABLE inbound_content (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX inbound_content_by_expiry ON inbound_content (expires_at);

-- Routes of received mail. A read model.
CREATE TABLE inbound_routes (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed boolean NOT NULL,
  record jsonb,
  PRIMARY KEY (account_id, id)
);

--------------------------------------------------------------------------------------------------------------------------------
-- Templates
--------------------------------------------------------------------------------------------------------------------------------

-- Templates, layouts and partials with their drafts. A read model.
CREATE TABLE templates (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  alias text COLLATE "C",
  kind text NOT NULL,
  archived boolean NOT NULL,
  current integer NOT NULL,
  record jsonb NOT NULL,
  draft jsonb NOT NULL,
  -- Names of the layout and partials of the draft.
  uses text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX templates_by_alias ON templates (account_id, alias) WHERE alias IS NOT NULL;
-- Layouts and partials, which are few of the templates: each batch with templated mail reads those of its accounts.
CREATE INDEX templates_parts ON templates (account_id) WHERE kind <> 'template' AND NOT archived AND current > 0;

-- Published versions, which never change. A read model.
CREATE TABLE template_versions (
  account_id text COLLATE "C" NOT NULL,
  template_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  version integer NOT NULL,
  record jsonb NOT NULL,
  source jsonb NOT NULL,
  uses text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, template_id, number)
);

--------------------------------------------------------------------------------------------------------------------------------
-- Webhooks
--------------------------------------------------------------------------------------------------------------------------------

-- Endpoints of customers that get events. A read model.
CREATE TABLE webhooks (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  enabled boolean NOT NULL,
  removed boolean NOT NULL,
  events text[] NOT NULL,
  -- Names of the sealed secrets that sign a call; not in `record`, which clients see.
  signing jsonb,
  record jsonb,
  -- Shape of the payload of a call, and whether a call has the headers svix-* beside webhook-*.
  format text COLLATE "C" NOT NULL DEFAULT 'waybill',
  svix_headers boolean NOT NULL DEFAULT false,
  PRIMARY KEY (account_id, id)
);

-- Calls: one row for each event and each webhook that subscribes to it.
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
  -- The attempts, oldest first: request, answer, time.
  history jsonb NOT NULL DEFAULT '[]',
  -- A webhook belongs to the live account and gets the events of its test mail too.
  livemode boolean NOT NULL DEFAULT true,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (account_id, webhook_id, id);
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (account_id, webhook_id, event_id);

-- Webhooks whose calls fail, and since when: a successful call deletes the row.
CREATE TABLE webhook_failures (
  account_id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (account_id, webhook_id)
);

--------------------------------------------------------------------------------------------------------------------------------
-- Mail providers
--------------------------------------------------------------------------------------------------------------------------------

-- cells: home
-- Addresses at which mail providers report what became of the mail that they were handed.
CREATE TABLE provider_hooks (
  id text COLLATE "C" PRIMARY KEY,
  provider text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- SHA-256 of the token in the address.
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Events that were recorded, that said nothing new, and that were about no known message.
  recorded bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  unmatched bigint NOT NULL DEFAULT 0,
  -- Events that could not be read, and calls that were refused.
  malformed bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  last_call_at timestamptz,
  -- When the newest event happened, as the provider says, and how long it took to arrive.
  last_event_at timestamptz,
  lag_ms bigint,
  last_refusal text
);

-- cells: every
-- Ids by which providers name mail that they were handed, for those that do not report our Message-ID.
CREATE TABLE provider_messages (
  ref text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX provider_messages_by_age ON provider_messages (created_at);

-- cells: home
-- Opens and clicks that were recorded, so that a repeated call counts them once, and events about no known message.
CREATE TABLE provider_events (
  hook_id text COLLATE "C" NOT NULL REFERENCES provider_hooks (id) ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- The provider's id of the message, and the event as it was read; NULL for a recorded event.
  ref text COLLATE "C",
  event text,
  -- When an event that could not be recorded may be tried again, although its message is known.
  retry_at timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (hook_id, id)
);
CREATE INDEX provider_events_by_age ON provider_events (received_at);
-- Each call looks at the kept events of its hook, which are few among the recorded ones.
CREATE INDEX provider_events_kept ON provider_events (hook_id, received_at) WHERE event IS NOT NULL;

--------------------------------------------------------------------------------------------------------------------------------
-- Source addresses: settings of the operator, so the log does not record them
--------------------------------------------------------------------------------------------------------------------------------

-- Pools of addresses that mail leaves from.
CREATE TABLE source_pools (
  name text COLLATE "C" PRIMARY KEY,
  -- Pool that takes mail for which this one has no address now; NULL if such mail waits.
  overflow text COLLATE "C" REFERENCES source_pools (name),
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (overflow <> name)
);

-- Warm-up plans of the operator, besides the built-in one.
CREATE TABLE warm_up_plans (
  name text COLLATE "C" PRIMARY KEY,
  plan jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Addresses that mail leaves from, each in one pool.
CREATE TABLE source_addresses (
  address text COLLATE "C" PRIMARY KEY,
  pool text COLLATE "C" NOT NULL REFERENCES source_pools (name),
  -- Name in EHLO; NULL for that of the host.
  ehlo text COLLATE "C",
  -- The warm-up plan, and the first UTC day of the warm-up.
  plan text COLLATE "C",
  warm_up_from date,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Results of the last check of its names and of blocklists.
  checked_at timestamptz,
  names jsonb,
  listings jsonb,
  CHECK ((plan IS NULL) = (warm_up_from IS NULL))
);
CREATE INDEX source_addresses_by_pool ON source_addresses (pool);

-- Whether each worker host can send from an address.
CREATE TABLE source_hosts (
  address text COLLATE "C" NOT NULL REFERENCES source_addresses (address) ON DELETE CASCADE,
  host text COLLATE "C" NOT NULL,
  bindable boolean NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (address, host)
);

-- Pauses of an address for one site, or for all by the site '*'.
CREATE TABLE source_pauses (
  address text COLLATE "C" NOT NULL REFERENCES source_addresses (address) ON DELETE CASCADE,
  site text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL,
  -- NULL until an operator resumes it.
  until timestamptz,
  reason text NOT NULL,
  -- Blocks in a row, which lengthen the pause.
  blocks integer NOT NULL DEFAULT 0,
  PRIMARY KEY (address, site)
);

-- Pools of accounts, and of domains that do not use that of their account. The domain '' is the whole account.
CREATE TABLE source_assignments (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL DEFAULT '',
  pool text COLLATE "C" NOT NULL REFERENCES source_pools (name),
  PRIMARY KEY (account_id, domain_id)
);
CREATE INDEX source_assignments_by_pool ON source_assignments (pool);

-- Mails by address, UTC day and provider: claimed by workers in blocks, and sent. The address may be gone.
CREATE TABLE source_counts (
  address text COLLATE "C" NOT NULL,
  day date NOT NULL,
  provider text COLLATE "C" NOT NULL,
  claimed integer NOT NULL DEFAULT 0,
  -- `claimed` before the last claim, by which that claim knows what it got.
  claimed_before integer NOT NULL DEFAULT 0,
  sent integer NOT NULL DEFAULT 0,
  PRIMARY KEY (address, day, provider)
);
CREATE INDEX source_counts_by_day ON source_counts (day);

--------------------------------------------------------------------------------------------------------------------------------
-- Cells
--------------------------------------------------------------------------------------------------------------------------------

-- Cells hold the tables of accounts. The schema `public` is the first one and holds all accounts that are not named below, so that
-- an installation with one cell reads none of these tables to find an account.
CREATE TABLE cells (
  name text COLLATE "C" PRIMARY KEY,
  -- An `open` cell takes new accounts, a `full` one does not, and a `draining` one is being emptied.
  state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'full', 'draining')),
  made_at timestamptz NOT NULL DEFAULT now(),
  -- Mark of the database on a cell's own server, so that no other one is taken for it.
  identity uuid,
  -- URL of that server, sealed with the instance key; null for a schema of the first cell's server.
  address jsonb,
  -- Group of the node of Citus that holds the cell, whose address Citus knows; null for other cells.
  node_group integer
);
INSERT INTO cells (name, state) VALUES ('public', 'open');

-- Accounts outside the first cell, and moves from one cell to another.
CREATE TABLE account_cells (
  account_id text COLLATE "C" PRIMARY KEY,
  cell text COLLATE "C" NOT NULL REFERENCES cells (name),
  -- The cell that the account moves to, and the step that its move has reached.
  moving_to text COLLATE "C" REFERENCES cells (name),
  step text COLLATE "C",
  changed_at timestamptz NOT NULL DEFAULT now(),
  -- The cell that the account has left and whose rows are to be deleted, until its move has ended.
  left_cell text COLLATE "C",
  CONSTRAINT account_cells_step_check CHECK (
    (moving_to IS NULL) = (step IS NULL) AND (step IN ('draining', 'fenced', 'cleaning')))
);
CREATE INDEX account_cells_moving ON account_cells (account_id) WHERE moving_to IS NOT NULL;

-- Accounts outside the first cell by what a request names them by: the hash of an API key, a user who signs in,
-- or the host of its tracked links.
CREATE TABLE account_names (
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('api_key', 'user', 'tracking_host')),
  name text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, name)
);
CREATE INDEX account_names_by_account ON account_names (account_id);

-- cells: database
-- Counts the changes of these tables that processes must notice before they trust what they remember of them.
CREATE SEQUENCE cell_change AS bigint;

-- Number of a cell with a server of its own, of which its positions of the log are made; given once.
CREATE SEQUENCE cell_number AS integer MINVALUE 1 MAXVALUE 63 NO CYCLE;

-- cells: every
-- Accounts that have left the cell, or are in the last step of leaving it: nothing is written for them here any more.
CREATE TABLE left_accounts (
  account_id text COLLATE "C" PRIMARY KEY,
  left_at timestamptz NOT NULL DEFAULT now()
);

--------------------------------------------------------------------------------------------------------------------------------
-- Functions. The code has the same ones for ids, terms and accounts
--------------------------------------------------------------------------------------------------------------------------------

-- cells: database
-- Whether an address is in one of the blocks of a key. A mapped IPv4 block means the IPv4 block, as in the domain. A text that is
-- no block allows nothing, and does not fail the other requests of the statement.
CREATE FUNCTION address_is_allowed(address text, blocks text[]) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  entry text;
  block inet;
BEGIN
  FOREACH entry IN ARRAY blocks LOOP
    BEGIN
      block := entry::inet;
      IF block <<= inet '::ffff:0:0/96' THEN
        block := set_masklen(regexp_replace(host(block), '^::ffff:', '')::inet, masklen(block) - 96);
      END IF;
      IF address::inet <<= block THEN
        RETURN true;
      END IF;
    EXCEPTION WHEN data_exception THEN
      CONTINUE;
    END;
  END LOOP;
  RETURN false;
END $$;

-- Returns the account that holds the test mail of a live account: the same UUID, of version 8 instead of 7. The 15th character
-- holds the bits of the version.
CREATE FUNCTION test_account_of(live_account_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT overlay(live_account_id PLACING
    translate(substr(live_account_id, 15, 1), '0123456789abcdefghjkmnpqrstvwxyz', 'yzwxtvrspqmnjkghefcdab8967452301')
    FROM 15 FOR 1)
$$;

-- Returns the UUID in an id: a prefix and 26 letters of base32, in the same order as the UUIDs. The id must be valid.
CREATE FUNCTION id_key(id text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 AS $$
DECLARE
  digits CONSTANT bytea := '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000102030405060708090000000000000000000000000000000000000000000000000000000000000000000000000000000a0b0c0d0e0f101100121300141500161718191a001b1c1d1e1f0000000000';
  blank CONSTANT bytea := '................';
  t CONSTANT bytea := convert_to(right(id, 26), 'UTF8');
BEGIN
  RETURN encode(
    set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(blank,
      0, ((get_byte(digits, get_byte(t, 0)) << 5) | get_byte(digits, get_byte(t, 1))) & 255),
      1, ((get_byte(digits, get_byte(t, 2)) << 3) | (get_byte(digits, get_byte(t, 3)) >> 2)) & 255),
      2, ((get_byte(digits, get_byte(t, 3)) << 6) | (get_byte(digits, get_byte(t, 4)) << 1) | (get_byte(digits, get_byte(t, 5)) >> 4)) & 255),
      3, ((get_byte(digits, get_byte(t, 5)) << 4) | (get_byte(digits, get_byte(t, 6)) >> 1)) & 255),
      4, ((get_byte(digits, get_byte(t, 6)) << 7) | (get_byte(digits, get_byte(t, 7)) << 2) | (get_byte(digits, get_byte(t, 8)) >> 3)) & 255),
      5, ((get_byte(digits, get_byte(t, 8)) << 5) | get_byte(digits, get_byte(t, 9))) & 255),
      6, ((get_byte(digits, get_byte(t, 10)) << 3) | (get_byte(digits, get_byte(t, 11)) >> 2)) & 255),
      7, ((get_byte(digits, get_byte(t, 11)) << 6) | (get_byte(digits, get_byte(t, 12)) << 1) | (get_byte(digits, get_byte(t, 13)) >> 4)) & 255),
      8, ((get_byte(digits, get_byte(t, 13)) << 4) | (get_byte(digits, get_byte(t, 14)) >> 1)) & 255),
      9, ((get_byte(digits, get_byte(t, 14)) << 7) | (get_byte(digits, get_byte(t, 15)) << 2) | (get_byte(digits, get_byte(t, 16)) >> 3)) & 255),
      10, ((get_byte(digits, get_byte(t, 16)) << 5) | get_byte(digits, get_byte(t, 17))) & 255),
      11, ((get_byte(digits, get_byte(t, 18)) << 3) | (get_byte(digits, get_byte(t, 19)) >> 2)) & 255),
      12, ((get_byte(digits, get_byte(t, 19)) << 6) | (get_byte(digits, get_byte(t, 20)) << 1) | (get_byte(digits, get_byte(t, 21)) >> 4)) & 255),
      13, ((get_byte(digits, get_byte(t, 21)) << 4) | (get_byte(digits, get_byte(t, 22)) >> 1)) & 255),
      14, ((get_byte(digits, get_byte(t, 22)) << 7) | (get_byte(digits, get_byte(t, 23)) << 2) | (get_byte(digits, get_byte(t, 24)) >> 3)) & 255),
      15, ((get_byte(digits, get_byte(t, 24)) << 5) | get_byte(digits, get_byte(t, 25))) & 255), 'hex')::uuid;
END $$;

-- Returns the id with a prefix and a UUID.
CREATE FUNCTION id_of(prefix text, key uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 AS $$
DECLARE
  letters CONSTANT bytea := '0123456789abcdefghjkmnpqrstvwxyz';
  blank CONSTANT bytea := '..........................';
  b CONSTANT bytea := uuid_send(key);
BEGIN
  RETURN prefix || '_' || convert_from(
    set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(blank,
      0, get_byte(letters, (get_byte(b, 0) >> 5) & 31)),
      1, get_byte(letters, (get_byte(b, 0)) & 31)),
      2, get_byte(letters, (get_byte(b, 1) >> 3) & 31)),
      3, get_byte(letters, ((get_byte(b, 1) << 2) | (get_byte(b, 2) >> 6)) & 31)),
      4, get_byte(letters, (get_byte(b, 2) >> 1) & 31)),
      5, get_byte(letters, ((get_byte(b, 2) << 4) | (get_byte(b, 3) >> 4)) & 31)),
      6, get_byte(letters, ((get_byte(b, 3) << 1) | (get_byte(b, 4) >> 7)) & 31)),
      7, get_byte(letters, (get_byte(b, 4) >> 2) & 31)),
      8, get_byte(letters, ((get_byte(b, 4) << 3) | (get_byte(b, 5) >> 5)) & 31)),
      9, get_byte(letters, (get_byte(b, 5)) & 31)),
      10, get_byte(letters, (get_byte(b, 6) >> 3) & 31)),
      11, get_byte(letters, ((get_byte(b, 6) << 2) | (get_byte(b, 7) >> 6)) & 31)),
      12, get_byte(letters, (get_byte(b, 7) >> 1) & 31)),
      13, get_byte(letters, ((get_byte(b, 7) << 4) | (get_byte(b, 8) >> 4)) & 31)),
      14, get_byte(letters, ((get_byte(b, 8) << 1) | (get_byte(b, 9) >> 7)) & 31)),
      15, get_byte(letters, (get_byte(b, 9) >> 2) & 31)),
      16, get_byte(letters, ((get_byte(b, 9) << 3) | (get_byte(b, 10) >> 5)) & 31)),
      17, get_byte(letters, (get_byte(b, 10)) & 31)),
      18, get_byte(letters, (get_byte(b, 11) >> 3) & 31)),
      19, get_byte(letters, ((get_byte(b, 11) << 2) | (get_byte(b, 12) >> 6)) & 31)),
      20, get_byte(letters, (get_byte(b, 12) >> 1) & 31)),
      21, get_byte(letters, ((get_byte(b, 12) << 4) | (get_byte(b, 13) >> 4)) & 31)),
      22, get_byte(letters, ((get_byte(b, 13) << 1) | (get_byte(b, 14) >> 7)) & 31)),
      23, get_byte(letters, (get_byte(b, 14) >> 2) & 31)),
      24, get_byte(letters, ((get_byte(b, 14) << 3) | (get_byte(b, 15) >> 5)) & 31)),
      25, get_byte(letters, (get_byte(b, 15)) & 31)), 'UTF8');
END $$;

-- Returns the first 8 bytes of the SHA-256 of a search term.
CREATE FUNCTION term_key(term text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ('x' || encode(substring(sha256(convert_to(term, 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
$$;

-- Returns a field of an event as text: the token of this number, or the field of this name. NULL if the token is empty, which means
-- its usual value.
CREATE FUNCTION event_field(packed text, token integer, data jsonb, name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN packed IS NULL THEN data ->> name
    ELSE CASE left(split_part(packed, E'\t', token), 1)
      WHEN '' THEN NULL
      WHEN '\' THEN (substr(split_part(packed, E'\t', token), 2)::jsonb) #>> '{}'
      ELSE split_part(packed, E'\t', token)
    END
  END
$$;

-- Returns the items of a field that is a list. An item that is alone may be packed without brackets.
CREATE FUNCTION event_items(packed text, token integer, data jsonb, name text) RETURNS SETOF jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_array_elements(CASE WHEN packed IS NULL THEN data -> name
    ELSE CASE left(split_part(packed, E'\t', token), 1)
      WHEN '' THEN '[]'::jsonb
      WHEN '\' THEN substr(split_part(packed, E'\t', token), 2)::jsonb
      WHEN '[' THEN split_part(packed, E'\t', token)::jsonb
      ELSE jsonb_build_array(split_part(packed, E'\t', token))
    END
  END)
$$;

-- Returns the address of a mailbox: an object, a pair of address and name, or only an address.
CREATE FUNCTION mailbox_address(mailbox jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE jsonb_typeof(mailbox) WHEN 'object' THEN mailbox ->> 'address' WHEN 'array' THEN mailbox ->> 0
    ELSE mailbox #>> '{}' END
$$;

-- Returns the hashes of a message's body and of its attachments. Without attachments, the hash is packed without JSON.
CREATE FUNCTION content_hashes(packed text, token integer, data jsonb) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hash FROM (SELECT CASE WHEN packed IS NULL THEN data -> 'content'
      WHEN starts_with(split_part(packed, E'\t', token), '\') THEN substr(split_part(packed, E'\t', token), 2)::jsonb
      ELSE jsonb_build_object('sha256', left(split_part(packed, E'\t', token), 64), 'attachments', '[]'::jsonb)
    END AS content) AS c
  CROSS JOIN LATERAL (SELECT content ->> 'sha256' AS hash
    UNION ALL SELECT a ->> 'sha256' FROM jsonb_array_elements(content -> 'attachments') AS a) AS h
$$;
