-- Aggregate reports about the domains of accounts, of DMARC (RFC 7489) and of TLS (RFC 8460). A row counts a report once.
CREATE TABLE domain_reports (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  -- Whether the mail was signed by the reporter's domain. Reports that were not are shown apart.
  verified boolean NOT NULL,
  -- Domain that signed the mail, or only claims to have sent it.
  reporter text COLLATE "C" NOT NULL,
  -- SHA-256 of the reporter, its id of the report, and the domain that the report is about.
  hash bytea NOT NULL,
  org_name text NOT NULL,
  -- Day (UTC) on which the period of the report begins.
  day date NOT NULL,
  began_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, domain_id, kind, verified, hash),
  CONSTRAINT domain_reports_kind_check CHECK (kind IN ('dmarc', 'tls'))
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
  disposition text COLLATE "C" NOT NULL,
  dkim_aligned boolean NOT NULL,
  spf_aligned boolean NOT NULL,
  messages bigint NOT NULL,
  -- Domain of a signature and of the return path, from one of the messages.
  dkim_domain text,
  spf_domain text,
  PRIMARY KEY (account_id, domain_id, day, verified, reporter, source, disposition, dkim_aligned, spf_aligned),
  CONSTRAINT dmarc_sources_disposition_check CHECK (disposition IN ('none', 'quarantine', 'reject'))
);
CREATE INDEX dmarc_sources_by_day ON dmarc_sources (day);

-- Sessions with the mail servers of a domain, as TLS reports count them.
CREATE TABLE tls_results (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  policy text COLLATE "C" NOT NULL,
  -- Kind of failure; empty for sessions that succeeded.
  failure text COLLATE "C" NOT NULL,
  -- Mail server of failed sessions; empty if the report does not name it.
  server text COLLATE "C" NOT NULL,
  sessions bigint NOT NULL,
  PRIMARY KEY (account_id, domain_id, day, verified, reporter, policy, failure, server),
  CONSTRAINT tls_results_policy_check CHECK (policy IN ('sts', 'tlsa', 'no-policy-found'))
);
CREATE INDEX tls_results_by_day ON tls_results (day);

-- A report names a domain, not an account. By an expression, because Postgres would take an index of the name alone for a
-- domain of one account as well, and read all accounts that have this name.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX domains_of_all_accounts ON domains (md5(name)) WHERE NOT removed;
