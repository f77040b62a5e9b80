-- What domains have said about how their mail is to be delivered (RFC 8461): a process that starts knows what another has
-- learnt, whatever becomes of DNS and the policy host meanwhile.
CREATE TABLE mta_sts_policies (
  domain text COLLATE "C" NOT NULL PRIMARY KEY,
  -- Under which the domain's record announced it.
  id text COLLATE "C" NOT NULL,
  policy jsonb NOT NULL CHECK (octet_length(policy::text) <= 131072),
  fetched_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  -- When mail last went there, to the day.
  used_at timestamptz NOT NULL DEFAULT now(),
  refresh_at timestamptz NOT NULL
);
CREATE INDEX mta_sts_policies_by_refresh ON mta_sts_policies (refresh_at);
