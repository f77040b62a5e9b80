-- Every row here is a fold of one stream: the columns are what a query filters by, `record` is what it answers with.
CREATE TABLE accounts (
  account_id text COLLATE "C" PRIMARY KEY,
  version integer NOT NULL,
  plan text COLLATE "C" NOT NULL,
  record jsonb NOT NULL
);

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
  PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash);

-- Last use is an observation, not a fact of the log: written in batches, never once a request.
CREATE TABLE api_key_uses (
  account_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key_id)
);

CREATE TABLE webhooks (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  enabled boolean NOT NULL,
  removed boolean NOT NULL,
  events text[] NOT NULL,
  -- Names of the sealed secrets that sign a call; no part of the record, which clients see.
  signing jsonb,
  record jsonb,
  PRIMARY KEY (account_id, id)
);

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

CREATE TABLE email_log (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  status text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  from_address text COLLATE "C" NOT NULL,
  subject text NOT NULL,
  record jsonb NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX email_log_by_status ON email_log (account_id, status, id);
CREATE INDEX email_log_by_domain ON email_log (account_id, domain, id);
CREATE INDEX email_log_by_from ON email_log (account_id, from_address, id);

-- Recipients and tags, turned around and in the order of the log, so that a rare one is found without a scan.
CREATE TABLE email_log_terms (
  account_id text COLLATE "C" NOT NULL,
  term text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, term, email_id)
);

-- One per accepted recipient, per account and UTC month; canceled mail is given back.
CREATE TABLE monthly_usage (
  account_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL CHECK (month ~ '^\d{4}-\d{2}$'),
  accepted bigint NOT NULL,
  PRIMARY KEY (account_id, month)
) WITH (fillfactor = 50);
