-- What the migrations make of an empty database, for people to read and for a test to compare.
-- Written by `npm run generate`, never edited. A new cell runs the migrations, not this file (packages/store/src/cells/CellSchema.ts).

CREATE EXTENSION btree_gin;

CREATE EXTENSION pg_trgm;

CREATE SEQUENCE cell_change AS bigint START 1 INCREMENT 1 CACHE 1;

CREATE SEQUENCE cell_number AS integer START 1 INCREMENT 1 CACHE 1;

CREATE SEQUENCE event_position AS bigint START 1 INCREMENT 1 CACHE 1 OWNED BY events."position";

CREATE SEQUENCE process_number AS integer START 1 INCREMENT 1 CACHE 1 CYCLE OWNED BY processes.number;

CREATE TABLE account_cells (
  account_id text COLLATE "C" NOT NULL,
  cell text COLLATE "C" NOT NULL,
  moving_to text COLLATE "C",
  step text COLLATE "C",
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  left_cell text COLLATE "C",
  CONSTRAINT account_cells_pkey PRIMARY KEY (account_id),
  CONSTRAINT account_cells_cell_fkey FOREIGN KEY (cell) REFERENCES cells(name),
  CONSTRAINT account_cells_moving_to_fkey FOREIGN KEY (moving_to) REFERENCES cells(name),
  CONSTRAINT account_cells_step_check CHECK ((((moving_to IS NULL) = (step IS NULL)) AND (step = ANY (ARRAY['draining'::text, 'fenced'::text, 'cleaning'::text]))))
);

CREATE TABLE account_names (
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  CONSTRAINT account_names_pkey PRIMARY KEY (kind, name),
  CONSTRAINT account_names_kind_check CHECK ((kind = ANY (ARRAY['api_key'::text, 'user'::text, 'tracking_host'::text, 'domain'::text]))) NOT VALID
);

CREATE TABLE accounts (
  account_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  plan text COLLATE "C" NOT NULL,
  record jsonb NOT NULL,
  CONSTRAINT accounts_pkey PRIMARY KEY (account_id)
);

CREATE TABLE api_key_uses (
  account_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  last_used_at timestamp with time zone NOT NULL,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (account_id, key_id)
);

CREATE TABLE api_keys (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  hash text COLLATE "C" NOT NULL,
  scopes text[] NOT NULL,
  domain text COLLATE "C",
  allowed_ips text[] NOT NULL,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  record jsonb NOT NULL,
  mode text COLLATE "C" NOT NULL DEFAULT 'live'::text,
  test_clock text COLLATE "C",
  CONSTRAINT api_keys_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT api_keys_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text])))
);

CREATE TABLE canceled_content (
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  hashes text[] COLLATE "C" NOT NULL,
  canceled_at timestamp with time zone NOT NULL,
  CONSTRAINT canceled_content_pkey PRIMARY KEY (account_id, email_id)
);

CREATE TABLE cells (
  name text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  identity uuid,
  address jsonb,
  node_group integer,
  domains_listed_at timestamp with time zone DEFAULT now(),
  noted_position bigint,
  CONSTRAINT cells_pkey PRIMARY KEY (name),
  CONSTRAINT cells_state_check CHECK ((state = ANY (ARRAY['open'::text, 'full'::text, 'draining'::text])))
);

CREATE TABLE content (
  account_id text COLLATE "C" NOT NULL,
  sha256 bytea NOT NULL,
  bytes bytea NOT NULL,
  expires_on date NOT NULL,
  compressed boolean NOT NULL DEFAULT false,
  uses integer NOT NULL,
  CONSTRAINT content_pkey PRIMARY KEY (account_id, sha256)
) WITH (autovacuum_analyze_scale_factor=0.3);

CREATE TABLE dmarc_overrides (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  messages bigint NOT NULL,
  comment text,
  CONSTRAINT dmarc_overrides_pkey PRIMARY KEY (account_id, domain_id, day, verified, reporter, source, reason)
);

CREATE TABLE dmarc_sources (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  disposition text COLLATE "C" NOT NULL,
  dkim_aligned boolean NOT NULL,
  spf_aligned boolean NOT NULL,
  messages bigint NOT NULL,
  dkim_domain text,
  spf_domain text,
  CONSTRAINT dmarc_sources_pkey PRIMARY KEY (account_id, domain_id, day, verified, reporter, source, disposition, dkim_aligned, spf_aligned),
  CONSTRAINT dmarc_sources_disposition_check CHECK ((disposition = ANY (ARRAY['none'::text, 'quarantine'::text, 'reject'::text])))
);

CREATE TABLE domain_reports (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  org_name text NOT NULL,
  day date NOT NULL,
  began_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT domain_reports_pkey PRIMARY KEY (account_id, domain_id, kind, verified, hash),
  CONSTRAINT domain_reports_kind_check CHECK ((kind = ANY (ARRAY['dmarc'::text, 'tls'::text])))
);

CREATE TABLE domains (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  removed boolean NOT NULL,
  record jsonb,
  CONSTRAINT domains_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE email_key_spans (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  span integer NOT NULL,
  CONSTRAINT email_key_spans_pkey PRIMARY KEY (account_id, api_key_id, span)
) WITH (autovacuum_analyze_scale_factor=0.3);

CREATE TABLE email_log (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  from_key bigint NOT NULL,
  subject_key bigint NOT NULL,
  to_key bigint NOT NULL,
  tag_key bigint,
  domain_key integer NOT NULL,
  version integer NOT NULL,
  status smallint NOT NULL,
  listed smallint NOT NULL DEFAULT 0,
  facets smallint NOT NULL DEFAULT 0,
  code smallint NOT NULL DEFAULT 0,
  CONSTRAINT email_log_pkey PRIMARY KEY (account_id, id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.3, fillfactor=80);

CREATE TABLE email_log_terms (
  account_id uuid NOT NULL,
  term bigint NOT NULL,
  email_id uuid NOT NULL,
  CONSTRAINT email_log_terms_pkey PRIMARY KEY (account_id, term, email_id)
) WITH (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.3);

CREATE TABLE email_stats (
  account_id text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  hour timestamp with time zone NOT NULL,
  domain text COLLATE "C" NOT NULL,
  measure text COLLATE "C" NOT NULL,
  bucket integer NOT NULL,
  count bigint NOT NULL,
  CONSTRAINT email_stats_pkey PRIMARY KEY (account_id, tag, hour, domain, measure, bucket),
  CONSTRAINT email_stats_count_check CHECK ((count >= 1))
);

CREATE TABLE email_subjects (
  account_id uuid NOT NULL,
  term bigint NOT NULL,
  folded text COLLATE "C" NOT NULL,
  CONSTRAINT email_subjects_pkey PRIMARY KEY (account_id, term)
) WITH (autovacuum_analyze_scale_factor=0.3);

CREATE TABLE email_words (
  account_id uuid NOT NULL,
  term text COLLATE "C" NOT NULL,
  folded text COLLATE "C" NOT NULL,
  CONSTRAINT email_words_pkey PRIMARY KEY (account_id, term)
) WITH (autovacuum_analyze_scale_factor=0.3);

CREATE TABLE event_kinds (
  kind text COLLATE "C" NOT NULL,
  opened_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT event_kinds_pkey PRIMARY KEY (kind)
);

CREATE TABLE events (
  "position" bigint NOT NULL DEFAULT nextval('event_position'::regclass),
  account_id text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  stream text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  data jsonb,
  meta jsonb,
  recorded_at timestamp with time zone NOT NULL,
  packed text COLLATE "C",
  CONSTRAINT events_pkey PRIMARY KEY (account_id, stream_id, version),
  CONSTRAINT events_packed_check CHECK (
CASE
    WHEN (packed IS NULL) THEN ((data IS NOT NULL) AND (meta IS NOT NULL))
    ELSE ((data IS NULL) AND (meta IS NULL))
END),
  CONSTRAINT events_version_check CHECK ((version >= 1))
) WITH (autovacuum_analyze_scale_factor=0.3);

CREATE TABLE followers (
  name text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  moved_at timestamp with time zone NOT NULL DEFAULT now(),
  kept_from timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT followers_pkey PRIMARY KEY (name)
);

CREATE TABLE idempotency_keys (
  account_id text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  answer bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, route, key)
);

CREATE TABLE inbound (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C",
  message_id text COLLATE "C",
  deleted boolean NOT NULL,
  record jsonb,
  CONSTRAINT inbound_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE inbound_content (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT inbound_content_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE inbound_routes (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed boolean NOT NULL,
  record jsonb,
  CONSTRAINT inbound_routes_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE left_accounts (
  account_id text COLLATE "C" NOT NULL,
  left_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT left_accounts_pkey PRIMARY KEY (account_id)
);

CREATE TABLE log_arrivals (
  account text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  last_position bigint NOT NULL,
  CONSTRAINT log_arrivals_pkey PRIMARY KEY (account)
);

CREATE TABLE log_cosignatures (
  tree integer NOT NULL,
  size bigint NOT NULL,
  note text COLLATE "C" NOT NULL,
  witnesses text[] COLLATE "C" NOT NULL,
  cosignatures text[] COLLATE "C" NOT NULL,
  CONSTRAINT log_cosignatures_pkey PRIMARY KEY (tree, size)
);

CREATE TABLE log_epochs (
  epoch integer NOT NULL,
  server text COLLATE "C" NOT NULL,
  last_position bigint NOT NULL,
  after_position bigint NOT NULL,
  began_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT log_epochs_pkey PRIMARY KEY (epoch),
  CONSTRAINT log_epochs_check CHECK ((after_position >= last_position)),
  CONSTRAINT log_epochs_epoch_check CHECK ((epoch >= 1))
);

CREATE TABLE log_heads (
  id boolean NOT NULL DEFAULT true,
  size bigint NOT NULL,
  root bytea NOT NULL,
  asked_until timestamp with time zone,
  CONSTRAINT log_heads_pkey PRIMARY KEY (id),
  CONSTRAINT log_heads_id_check CHECK (id)
);

CREATE TABLE log_keys (
  number integer NOT NULL,
  public_key bytea NOT NULL,
  began_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone,
  CONSTRAINT log_keys_pkey PRIMARY KEY (number)
);

CREATE TABLE log_leaves (
  stream_key uuid NOT NULL,
  salt bytea,
  leaves bytea NOT NULL,
  CONSTRAINT log_leaves_pkey PRIMARY KEY (stream_key)
) WITH (fillfactor=90);

CREATE TABLE log_tiles (
  level integer NOT NULL,
  n bigint NOT NULL,
  hashes bytea NOT NULL,
  CONSTRAINT log_tiles_pkey PRIMARY KEY (level, n)
);

CREATE TABLE log_trees (
  tree integer NOT NULL,
  origin text COLLATE "C" NOT NULL,
  epoch text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  note text COLLATE "C" NOT NULL,
  signed_at timestamp with time zone NOT NULL,
  CONSTRAINT log_trees_pkey PRIMARY KEY (tree)
);

CREATE TABLE members (
  account_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  email text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  record jsonb NOT NULL,
  CONSTRAINT members_pkey PRIMARY KEY (account_id, user_id)
);

CREATE TABLE monthly_usage (
  account_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL,
  accepted bigint NOT NULL,
  CONSTRAINT monthly_usage_pkey PRIMARY KEY (account_id, month),
  CONSTRAINT monthly_usage_month_check CHECK ((month ~ '^\d{4}-\d{2}$'::text))
) WITH (fillfactor=50);

CREATE TABLE mta_sts_policies (
  domain text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  policy jsonb NOT NULL,
  fetched_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone NOT NULL DEFAULT now(),
  refresh_at timestamp with time zone NOT NULL,
  CONSTRAINT mta_sts_policies_pkey PRIMARY KEY (domain),
  CONSTRAINT mta_sts_policies_policy_check CHECK ((octet_length((policy)::text) <= 131072))
);

CREATE TABLE nodes (
  id text COLLATE "C" NOT NULL,
  release text NOT NULL,
  kinds text[] NOT NULL,
  beat_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT nodes_pkey PRIMARY KEY (id)
);

CREATE TABLE outbox (
  id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  available_at timestamp with time zone NOT NULL,
  ready boolean NOT NULL DEFAULT false,
  held_until timestamp with time zone,
  attempt integer NOT NULL DEFAULT 0,
  lease_token text COLLATE "C",
  lease_until timestamp with time zone,
  lease_owner text COLLATE "C",
  payload jsonb NOT NULL,
  clock text COLLATE "C",
  clock_due timestamp with time zone,
  CONSTRAINT outbox_pkey PRIMARY KEY (id),
  CONSTRAINT outbox_attempt_check CHECK ((attempt >= 0)),
  CONSTRAINT outbox_check CHECK (((lease_token IS NULL) = (lease_until IS NULL))),
  CONSTRAINT outbox_kind_check CHECK ((kind = ANY (ARRAY['delivery'::text, 'webhook'::text, 'domain_check'::text, 'test_clock'::text])))
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0);

CREATE TABLE processes (
  id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  worker_ids text[] NOT NULL,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  beat_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT processes_pkey PRIMARY KEY (id)
);

CREATE TABLE projection_slices (
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  nth integer NOT NULL,
  after_account text COLLATE "C" NOT NULL,
  after_stream text COLLATE "C" NOT NULL,
  upto_account text COLLATE "C",
  upto_stream text COLLATE "C",
  done boolean NOT NULL DEFAULT false,
  CONSTRAINT projection_slices_pkey PRIMARY KEY (name, version, nth),
  CONSTRAINT projection_slices_check CHECK (((upto_account IS NULL) = (upto_stream IS NULL))),
  CONSTRAINT projection_slices_name_version_fkey FOREIGN KEY (name, version) REFERENCES projection_versions(name, version) ON DELETE CASCADE
);

CREATE TABLE projection_versions (
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  state text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  events bigint NOT NULL DEFAULT 0,
  worked_ms bigint NOT NULL DEFAULT 0,
  release text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  finished_at timestamp with time zone,
  CONSTRAINT projection_versions_pkey PRIMARY KEY (name, version),
  CONSTRAINT projection_versions_state_check CHECK ((state = ANY (ARRAY['building'::text, 'ready'::text, 'live'::text, 'kept'::text]))),
  CONSTRAINT projection_versions_version_check CHECK ((version >= 1))
);

CREATE TABLE provider_events (
  hook_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT now(),
  ref text COLLATE "C",
  event text,
  retry_at timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  CONSTRAINT provider_events_pkey PRIMARY KEY (hook_id, id),
  CONSTRAINT provider_events_hook_id_fkey FOREIGN KEY (hook_id) REFERENCES provider_hooks(id) ON DELETE CASCADE
);

CREATE TABLE provider_hooks (
  id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  name text NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  recorded bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  unmatched bigint NOT NULL DEFAULT 0,
  malformed bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  last_call_at timestamp with time zone,
  last_event_at timestamp with time zone,
  lag_ms bigint,
  last_refusal text,
  CONSTRAINT provider_hooks_pkey PRIMARY KEY (id),
  CONSTRAINT provider_hooks_token_hash_key UNIQUE (token_hash)
);

CREATE TABLE provider_messages (
  ref text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT provider_messages_pkey PRIMARY KEY (ref)
);

CREATE UNLOGGED TABLE rate_windows (
  bucket text COLLATE "C" NOT NULL,
  window_start timestamp with time zone NOT NULL,
  count integer NOT NULL,
  CONSTRAINT rate_windows_pkey PRIMARY KEY (bucket, window_start),
  CONSTRAINT rate_windows_count_check CHECK ((count >= 1))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

CREATE TABLE request_log (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  query text NOT NULL,
  status integer,
  reason text COLLATE "C",
  api_key_id text COLLATE "C",
  user_id text COLLATE "C",
  address text NOT NULL,
  duration_ms integer NOT NULL,
  body_bytes integer NOT NULL,
  body text NOT NULL,
  livemode boolean NOT NULL DEFAULT true,
  answer text NOT NULL DEFAULT ''::text,
  recipients bigint[],
  CONSTRAINT request_log_pkey PRIMARY KEY (account_id, id)
) PARTITION BY RANGE (id);

CREATE TABLE request_log_counts (
  account_id text COLLATE "C" NOT NULL,
  caller_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  kept_rows bigint NOT NULL,
  kept_bytes bigint NOT NULL,
  not_kept bigint NOT NULL,
  CONSTRAINT request_log_counts_pkey PRIMARY KEY (account_id, caller_id, day)
) WITH (fillfactor=50);

CREATE TABLE sandbox_messages (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  recipients text[] COLLATE "C" NOT NULL,
  subject text NOT NULL,
  mail_from text NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT sandbox_messages_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE saved_views (
  account_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  search text NOT NULL,
  CONSTRAINT saved_views_pkey PRIMARY KEY (account_id, user_id, name),
  CONSTRAINT saved_views_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE schema_migrations (
  name text COLLATE "C" NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE secrets (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  nonce bytea NOT NULL,
  ciphertext bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  CONSTRAINT secrets_pkey PRIMARY KEY (account_id, id, purpose),
  CONSTRAINT secrets_ciphertext_check CHECK ((octet_length(ciphertext) >= 16)),
  CONSTRAINT secrets_nonce_check CHECK ((octet_length(nonce) = 12))
);

CREATE TABLE source_addresses (
  address text COLLATE "C" NOT NULL,
  pool text COLLATE "C" NOT NULL,
  ehlo text COLLATE "C",
  plan text COLLATE "C",
  warm_up_from date,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  checked_at timestamp with time zone,
  names jsonb,
  listings jsonb,
  CONSTRAINT source_addresses_pkey PRIMARY KEY (address),
  CONSTRAINT source_addresses_check CHECK (((plan IS NULL) = (warm_up_from IS NULL))),
  CONSTRAINT source_addresses_pool_fkey FOREIGN KEY (pool) REFERENCES source_pools(name)
);

CREATE TABLE source_assignments (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL DEFAULT ''::text,
  pool text COLLATE "C" NOT NULL,
  CONSTRAINT source_assignments_pkey PRIMARY KEY (account_id, domain_id),
  CONSTRAINT source_assignments_pool_fkey FOREIGN KEY (pool) REFERENCES source_pools(name)
);

CREATE TABLE source_counts (
  address text COLLATE "C" NOT NULL,
  day date NOT NULL,
  provider text COLLATE "C" NOT NULL,
  claimed integer NOT NULL DEFAULT 0,
  claimed_before integer NOT NULL DEFAULT 0,
  sent integer NOT NULL DEFAULT 0,
  CONSTRAINT source_counts_pkey PRIMARY KEY (address, day, provider)
);

CREATE TABLE source_hosts (
  address text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  bindable boolean NOT NULL,
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT source_hosts_pkey PRIMARY KEY (address, host),
  CONSTRAINT source_hosts_address_fkey FOREIGN KEY (address) REFERENCES source_addresses(address) ON DELETE CASCADE
);

CREATE TABLE source_pauses (
  address text COLLATE "C" NOT NULL,
  site text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL,
  until timestamp with time zone,
  reason text NOT NULL,
  blocks integer NOT NULL DEFAULT 0,
  CONSTRAINT source_pauses_pkey PRIMARY KEY (address, site),
  CONSTRAINT source_pauses_address_fkey FOREIGN KEY (address) REFERENCES source_addresses(address) ON DELETE CASCADE
);

CREATE TABLE source_pools (
  name text COLLATE "C" NOT NULL,
  overflow text COLLATE "C",
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT source_pools_pkey PRIMARY KEY (name),
  CONSTRAINT source_pools_check CHECK ((overflow <> name)),
  CONSTRAINT source_pools_overflow_fkey FOREIGN KEY (overflow) REFERENCES source_pools(name)
);

CREATE TABLE suppressions (
  account_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  id text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  active boolean NOT NULL,
  record jsonb NOT NULL,
  CONSTRAINT suppressions_pkey PRIMARY KEY (account_id, address)
);

CREATE TABLE template_versions (
  account_id text COLLATE "C" NOT NULL,
  template_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  version integer NOT NULL,
  record jsonb NOT NULL,
  source jsonb NOT NULL,
  uses text[] COLLATE "C" NOT NULL,
  CONSTRAINT template_versions_pkey PRIMARY KEY (account_id, template_id, number)
);

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
  uses text[] COLLATE "C" NOT NULL,
  CONSTRAINT templates_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE test_clocks (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed boolean NOT NULL,
  record jsonb NOT NULL,
  CONSTRAINT test_clocks_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE tls_results (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL,
  failure text COLLATE "C" NOT NULL,
  server text COLLATE "C" NOT NULL,
  sessions bigint NOT NULL,
  CONSTRAINT tls_results_pkey PRIMARY KEY (account_id, domain_id, day, verified, reporter, policy, failure, server),
  CONSTRAINT tls_results_policy_check CHECK ((policy = ANY (ARRAY['sts'::text, 'tlsa'::text, 'no-policy-found'::text])))
);

CREATE TABLE unread_reports (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  recipient_index integer NOT NULL,
  scope text COLLATE "C",
  address text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT unread_reports_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT unread_reports_reason_check CHECK ((reason = ANY (ARRAY['deadline'::text, 'memory'::text, 'crash'::text])))
);

CREATE TABLE unsent_mail (
  account_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL DEFAULT 0,
  refunded bigint NOT NULL DEFAULT 0,
  CONSTRAINT unsent_mail_pkey PRIMARY KEY (account_id, month),
  CONSTRAINT unsent_mail_month_check CHECK ((month ~ '^\d{4}-\d{2}$'::text))
) WITH (fillfactor=50);

CREATE TABLE user_credentials (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  issuer text COLLATE "C",
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT user_credentials_pkey PRIMARY KEY (id),
  CONSTRAINT user_credentials_provider_id_subject_key UNIQUE (provider_id, subject),
  CONSTRAINT user_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE user_passkeys (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text,
  public_key text NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  counter bigint NOT NULL,
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  transports text,
  aaguid text,
  created_at timestamp with time zone,
  CONSTRAINT user_passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT user_passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE user_rate_limits (
  id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  count integer NOT NULL,
  last_request bigint NOT NULL,
  CONSTRAINT user_rate_limits_pkey PRIMARY KEY (id),
  CONSTRAINT user_rate_limits_key_key UNIQUE (key)
);

CREATE TABLE user_sessions (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  token text COLLATE "C" NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  ip_address text,
  user_agent text,
  CONSTRAINT user_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT user_sessions_token_key UNIQUE (token),
  CONSTRAINT user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE user_two_factors (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  secret text NOT NULL,
  backup_codes text NOT NULL,
  verified boolean NOT NULL DEFAULT true,
  failed_verification_count integer NOT NULL DEFAULT 0,
  locked_until timestamp with time zone,
  last_step bigint,
  CONSTRAINT user_two_factors_pkey PRIMARY KEY (id),
  CONSTRAINT user_two_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE user_verifications (
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  value text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT user_verifications_pkey PRIMARY KEY (id)
);

CREATE TABLE users (
  id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  name text NOT NULL DEFAULT ''::text,
  email_verified boolean NOT NULL DEFAULT true,
  image text,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  two_factor_enabled boolean NOT NULL DEFAULT false,
  operator boolean NOT NULL DEFAULT false,
  proof_version integer NOT NULL DEFAULT 0,
  CONSTRAINT users_pkey PRIMARY KEY (id)
);

CREATE TABLE warm_up_plans (
  name text COLLATE "C" NOT NULL,
  plan jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT warm_up_plans_pkey PRIMARY KEY (name)
);

CREATE TABLE webhook_deliveries (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  stream_version integer NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'pending'::text,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL,
  next_attempt_at timestamp with time zone,
  delivered_at timestamp with time zone,
  history jsonb NOT NULL DEFAULT '[]'::jsonb,
  livemode boolean NOT NULL DEFAULT true,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);

CREATE TABLE webhook_failures (
  account_id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL,
  CONSTRAINT webhook_failures_pkey PRIMARY KEY (account_id, webhook_id)
);

CREATE TABLE webhooks (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  enabled boolean NOT NULL,
  removed boolean NOT NULL,
  events text[] NOT NULL,
  signing jsonb,
  record jsonb,
  format text COLLATE "C" NOT NULL DEFAULT 'waybill'::text,
  svix_headers boolean NOT NULL DEFAULT false,
  CONSTRAINT webhooks_pkey PRIMARY KEY (account_id, id)
);

ALTER TABLE content ALTER COLUMN sha256 SET STATISTICS 0;

ALTER TABLE content ALTER COLUMN bytes SET STATISTICS 0;

ALTER TABLE events ALTER COLUMN event_id SET STATISTICS 0;

ALTER TABLE events ALTER COLUMN data SET STATISTICS 0;

ALTER TABLE events ALTER COLUMN meta SET STATISTICS 0;

ALTER TABLE idempotency_keys ALTER COLUMN answer SET STATISTICS 0;

ALTER TABLE outbox ALTER COLUMN payload SET STATISTICS 0;

ALTER TABLE sandbox_messages ALTER COLUMN bytes SET STATISTICS 0;

ALTER TABLE unread_reports ALTER COLUMN bytes SET STATISTICS 0;

CREATE INDEX account_cells_moving ON account_cells USING btree (account_id) WHERE (moving_to IS NOT NULL);

CREATE INDEX account_names_by_account ON account_names USING btree (account_id);

CREATE INDEX accounts_links_stopped ON accounts USING btree (account_id) WHERE (record ? 'links_stopped_at'::text);

CREATE UNIQUE INDEX api_keys_by_hash ON api_keys USING btree (hash);

CREATE INDEX canceled_content_by_time ON canceled_content USING btree (canceled_at);

CREATE INDEX content_by_expiry ON content USING btree (expires_on);

CREATE INDEX dmarc_overrides_by_day ON dmarc_overrides USING btree (day);

CREATE INDEX dmarc_sources_by_day ON dmarc_sources USING btree (day);

CREATE INDEX domain_reports_by_day ON domain_reports USING btree (day);

CREATE UNIQUE INDEX domains_by_name ON domains USING btree (account_id, name) WHERE (NOT removed);

CREATE INDEX domains_of_all_accounts ON domains USING btree (md5(name)) WHERE (NOT removed);

CREATE INDEX domains_tracking ON domains USING btree (account_id, id) WHERE ((((record -> 'tracking_domain'::text) ->> 'verified'::text) = 'true'::text) AND ((record ->> 'verified_at'::text) IS NOT NULL));

CREATE INDEX email_log_by_code ON email_log USING btree (account_id, code, id) WHERE (code > 0);

CREATE INDEX email_log_by_domain ON email_log USING btree (account_id, domain_key, id);

CREATE INDEX email_log_by_facets ON email_log USING btree (account_id, facets, id) WHERE (facets > 0);

CREATE INDEX email_log_by_from ON email_log USING btree (account_id, from_key, id);

CREATE INDEX email_log_by_status ON email_log USING btree (account_id, listed, id) WHERE (listed > 0);

CREATE INDEX email_log_by_subject ON email_log USING btree (account_id, subject_key, id);

CREATE INDEX email_log_by_tag ON email_log USING btree (account_id, tag_key, id) WHERE (tag_key IS NOT NULL);

CREATE INDEX email_log_by_to ON email_log USING btree (account_id, to_key, id);

CREATE INDEX email_subjects_by_part ON email_subjects USING gin (account_id, folded gin_trgm_ops);

CREATE INDEX email_words_by_part ON email_words USING gin (account_id, folded gin_trgm_ops);

CREATE INDEX events_audit ON events USING btree (account_id, "position") WHERE ((stream <> 'email'::text) AND (((meta -> 'actor'::text) ->> 'type'::text) <> 'system'::text));

CREATE INDEX events_by_account_position ON events USING btree (account_id, "position");

CREATE UNIQUE INDEX events_by_position ON events USING btree ("position");

CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys USING btree (expires_at);

CREATE INDEX inbound_by_email ON inbound USING btree (account_id, email_id, id) WHERE (email_id IS NOT NULL);

CREATE INDEX inbound_by_message_id ON inbound USING btree (account_id, message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX inbound_by_thread ON inbound USING btree (account_id, thread_id, id);

CREATE INDEX inbound_content_by_expiry ON inbound_content USING btree (expires_at);

CREATE UNIQUE INDEX members_by_email ON members USING btree (account_id, lower(email)) WHERE (status <> 'removed'::text);

CREATE UNIQUE INDEX members_by_user ON members USING btree (user_id) WHERE (status <> 'removed'::text);

CREATE INDEX mta_sts_policies_by_refresh ON mta_sts_policies USING btree (refresh_at);

CREATE INDEX outbox_by_account ON outbox USING btree (account_id, ((payload = '{}'::jsonb))) WHERE (kind = 'delivery'::text);

CREATE INDEX outbox_by_clock ON outbox USING btree (clock, available_at, clock_due) WHERE (clock IS NOT NULL);

CREATE INDEX outbox_by_webhook ON outbox USING btree (account_id, stream_id) WHERE (kind = 'webhook'::text);

CREATE INDEX outbox_leased ON outbox USING btree (lease_until) WHERE (lease_token IS NOT NULL);

CREATE INDEX outbox_ready ON outbox USING btree (kind, account_id, available_at) WHERE (ready AND (lease_token IS NULL));

CREATE INDEX outbox_waiting ON outbox USING btree (available_at) WHERE ((NOT ready) AND (lease_token IS NULL));

CREATE UNIQUE INDEX projection_versions_building ON projection_versions USING btree (name) WHERE (state = 'building'::text);

CREATE UNIQUE INDEX projection_versions_live ON projection_versions USING btree (name) WHERE (state = 'live'::text);

CREATE INDEX provider_events_by_age ON provider_events USING btree (received_at);

CREATE INDEX provider_events_kept ON provider_events USING btree (hook_id, received_at) WHERE (event IS NOT NULL);

CREATE INDEX provider_messages_by_age ON provider_messages USING btree (created_at);

CREATE INDEX request_log_by_key ON ONLY request_log USING btree (account_id, api_key_id, id);

CREATE INDEX request_log_by_path ON ONLY request_log USING btree (account_id, path, id) WHERE (path <> '/v1/email/send'::text);

CREATE INDEX request_log_by_recipient ON ONLY request_log USING gin (recipients) WHERE (recipients IS NOT NULL);

CREATE INDEX request_log_refused ON ONLY request_log USING btree (account_id, status, id) WHERE ((status >= 400) OR (status IS NULL));

CREATE INDEX sandbox_messages_by_expiry ON sandbox_messages USING btree (expires_at);

CREATE INDEX saved_views_by_user ON saved_views USING btree (user_id);

CREATE INDEX secrets_by_expiry ON secrets USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX secrets_by_key ON secrets USING btree (key_id);

CREATE INDEX source_addresses_by_pool ON source_addresses USING btree (pool);

CREATE INDEX source_assignments_by_pool ON source_assignments USING btree (pool);

CREATE INDEX source_counts_by_day ON source_counts USING btree (day);

CREATE UNIQUE INDEX suppressions_by_id ON suppressions USING btree (account_id, id) WHERE active;

CREATE INDEX templates_by_alias ON templates USING btree (account_id, alias) WHERE (alias IS NOT NULL);

CREATE INDEX templates_parts ON templates USING btree (account_id) WHERE ((kind <> 'template'::text) AND (NOT archived) AND (current > 0));

CREATE INDEX tls_results_by_day ON tls_results USING btree (day);

CREATE INDEX unread_reports_by_email ON unread_reports USING btree (account_id, email_id);

CREATE INDEX unread_reports_by_time ON unread_reports USING btree (received_at);

CREATE UNIQUE INDEX user_credentials_by_provider ON user_credentials USING btree (user_id, provider_id);

CREATE INDEX user_credentials_by_user ON user_credentials USING btree (user_id);

CREATE UNIQUE INDEX user_passkeys_by_credential ON user_passkeys USING btree (credential_id);

CREATE INDEX user_passkeys_by_user ON user_passkeys USING btree (user_id);

CREATE INDEX user_sessions_by_user ON user_sessions USING btree (user_id);

CREATE INDEX user_two_factors_by_user ON user_two_factors USING btree (user_id);

CREATE INDEX user_verifications_by_expiry ON user_verifications USING btree (expires_at);

CREATE INDEX user_verifications_by_identifier ON user_verifications USING btree (identifier);

CREATE INDEX users_by_email ON users USING btree (email);

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries USING btree (account_id, webhook_id, id);

CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries USING btree (account_id, webhook_id, event_id);

CREATE OR REPLACE FUNCTION address_is_allowed(address text, blocks text[])
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION content_hashes(packed text, token integer, data jsonb)
 RETURNS SETOF text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT hash FROM (SELECT CASE WHEN packed IS NULL THEN data -> 'content'
      WHEN starts_with(split_part(packed, E'\t', token), '\') THEN substr(split_part(packed, E'\t', token), 2)::jsonb
      ELSE jsonb_build_object('sha256', left(split_part(packed, E'\t', token), 64), 'attachments', '[]'::jsonb)
    END AS content) AS c
  CROSS JOIN LATERAL (SELECT content ->> 'sha256' AS hash
    UNION ALL SELECT a ->> 'sha256' FROM jsonb_array_elements(content -> 'attachments') AS a) AS h
$function$;

CREATE OR REPLACE FUNCTION event_field(packed text, token integer, data jsonb, name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT CASE WHEN packed IS NULL THEN data ->> name
    ELSE CASE left(split_part(packed, E'\t', token), 1)
      WHEN '' THEN NULL
      WHEN '\' THEN (substr(split_part(packed, E'\t', token), 2)::jsonb) #>> '{}'
      ELSE split_part(packed, E'\t', token)
    END
  END
$function$;

CREATE OR REPLACE FUNCTION event_items(packed text, token integer, data jsonb, name text)
 RETURNS SETOF jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT jsonb_array_elements(CASE WHEN packed IS NULL THEN data -> name
    ELSE CASE left(split_part(packed, E'\t', token), 1)
      WHEN '' THEN '[]'::jsonb
      WHEN '\' THEN substr(split_part(packed, E'\t', token), 2)::jsonb
      WHEN '[' THEN split_part(packed, E'\t', token)::jsonb
      ELSE jsonb_build_array(split_part(packed, E'\t', token))
    END
  END)
$function$;

CREATE OR REPLACE FUNCTION id_key(id text)
 RETURNS uuid
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT COST 50
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION id_of(prefix text, key uuid)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT COST 50
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION mailbox_address(mailbox jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT CASE jsonb_typeof(mailbox) WHEN 'object' THEN mailbox ->> 'address' WHEN 'array' THEN mailbox ->> 0
    ELSE mailbox #>> '{}' END
$function$;

CREATE OR REPLACE FUNCTION term_key(term text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  SELECT ('x' || encode(substring(sha256(convert_to(term, 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
$function$;

CREATE OR REPLACE FUNCTION test_account_of(live_account_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT overlay(live_account_id PLACING
    translate(substr(live_account_id, 15, 1), '0123456789abcdefghjkmnpqrstvwxyz', 'yzwxtvrspqmnjkghefcdab8967452301')
    FROM 15 FOR 1)
$function$;
