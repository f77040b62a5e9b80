-- Pools of addresses that mail leaves from. They are settings of the operator, so that the log does not record them.
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

CREATE TABLE source_addresses (
  address text COLLATE "C" PRIMARY KEY,
  pool text COLLATE "C" NOT NULL REFERENCES source_pools (name),
  -- Name in EHLO; NULL is that of the host.
  ehlo text COLLATE "C",
  -- The warm-up plan, and the first day of the warm-up in UTC.
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

-- Pools of accounts, and of domains with the account's as default. The domain '' is the whole account.
CREATE TABLE source_assignments (
  account_id text COLLATE "C" NOT NULL,
  domain_id text COLLATE "C" NOT NULL DEFAULT '',
  pool text COLLATE "C" NOT NULL REFERENCES source_pools (name),
  PRIMARY KEY (account_id, domain_id)
);
CREATE INDEX source_assignments_by_pool ON source_assignments (pool);

-- Mails per address, day in UTC and provider: claimed by workers in blocks, and sent. An address may be gone.
CREATE TABLE source_counts (
  address text COLLATE "C" NOT NULL,
  day date NOT NULL,
  provider text COLLATE "C" NOT NULL,
  claimed integer NOT NULL DEFAULT 0,
  -- Value of claimed before the last claim, by which the claim knows what it got.
  claimed_before integer NOT NULL DEFAULT 0,
  sent integer NOT NULL DEFAULT 0,
  PRIMARY KEY (address, day, provider)
);
CREATE INDEX source_counts_by_day ON source_counts (day);
