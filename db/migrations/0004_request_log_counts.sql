-- cells: every
-- The sums of the request log are beside its rows, so that home has no work with API calls. `public` had the table before, for all
-- cells; what it has of accounts elsewhere is deleted with its day.
CREATE TABLE IF NOT EXISTS request_log_counts (
  account_id text COLLATE "C" NOT NULL,
  caller_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  kept_rows bigint NOT NULL,
  kept_bytes bigint NOT NULL,
  not_kept bigint NOT NULL,
  PRIMARY KEY (account_id, caller_id, day)
) WITH (fillfactor = 50);
