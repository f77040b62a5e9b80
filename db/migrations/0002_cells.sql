-- cells: home
-- Also the domains that accounts have verified: the name, then the account, since several may have the same. All rows from before
-- have one of the kinds.
ALTER TABLE account_names DROP CONSTRAINT account_names_kind_check;
ALTER TABLE account_names ADD CONSTRAINT account_names_kind_check
  CHECK (kind IN ('api_key', 'user', 'tracking_host', 'domain')) NOT VALID;

-- When the domains of a cell were compared with those above; null until then for a cell that was there before.
ALTER TABLE cells ADD COLUMN domains_listed_at timestamptz;
ALTER TABLE cells ALTER COLUMN domains_listed_at SET DEFAULT now();

-- A position that the cell had given when a worker looked last, so that an older copy of its database is not taken for it.
ALTER TABLE cells ADD COLUMN noted_position bigint;
