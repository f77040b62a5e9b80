-- cells: every
-- Mail to which receivers did not apply the policy of a domain, as DMARC reports count it by reason. Mail with several
-- reasons counts for each of them.
CREATE TABLE dmarc_overrides (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  verified boolean NOT NULL,
  reporter text COLLATE "C" NOT NULL,
  -- As in `dmarc_sources`.
  source text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  messages bigint NOT NULL,
  -- Words of the reporter, from one of its records.
  comment text,
  CONSTRAINT dmarc_overrides_pkey PRIMARY KEY (account_id, domain_id, day, verified, reporter, source, reason)
);
CREATE INDEX dmarc_overrides_by_day ON dmarc_overrides (day);
