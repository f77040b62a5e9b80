-- cells: home
-- What the request log holds of a day (UTC), and how many calls it only counted: of each key or member, of each account (the
-- caller is empty), and of the instance (both are empty). All processes share the bounds of a day by these sums.
CREATE TABLE request_log_counts (
  account_id text COLLATE "C" NOT NULL,
  caller_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  kept_rows bigint NOT NULL,
  kept_bytes bigint NOT NULL,
  not_kept bigint NOT NULL,
  PRIMARY KEY (account_id, caller_id, day)
-- Rows are updated twice a second and have no other index, so free space keeps their versions on the same page.
) WITH (fillfactor = 50);
