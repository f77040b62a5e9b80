-- Test clocks, folded from their streams.
CREATE TABLE test_clocks (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed boolean NOT NULL,
  record jsonb NOT NULL,
  PRIMARY KEY (account_id, id)
);

-- The test clock that a row lives on, and its time on that clock. While the row waits for its clock, `available_at` is far in the
-- future, so that no statement of work on real time sees it.
ALTER TABLE outbox
  ADD COLUMN clock text COLLATE "C",
  ADD COLUMN clock_due timestamptz;
ALTER TABLE outbox DROP CONSTRAINT outbox_kind_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_kind_check
  CHECK (kind IN ('delivery', 'webhook', 'domain_check', 'test_clock')) NOT VALID;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX outbox_by_clock ON outbox (clock, available_at, clock_due) WHERE clock IS NOT NULL;

-- The test clock that the mail of a test key lives on.
ALTER TABLE api_keys ADD COLUMN test_clock text COLLATE "C";
