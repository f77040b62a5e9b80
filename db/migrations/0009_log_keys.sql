-- cells: home
-- Keys that sign the heads of the logs of all cells; their secrets are sealed in `secrets`.
CREATE TABLE log_keys (
  number integer PRIMARY KEY,
  public_key bytea NOT NULL,
  began_at timestamptz NOT NULL,
  -- Null for the present key.
  ends_at timestamptz
);
