-- What happened to an account's mail, by the hour in which it happened. Counts alone, so that hours, domains and tags are
-- merged by adding up. Each message counts once under the empty tag, and once more under each of its own.
-- `bucket` is 0, or the class of a latency: see EmailStats.ts.
CREATE TABLE email_stats (
  account_id text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  hour timestamptz NOT NULL,
  domain text COLLATE "C" NOT NULL,
  measure text COLLATE "C" NOT NULL,
  bucket integer NOT NULL,
  count bigint NOT NULL CHECK (count >= 1),
  PRIMARY KEY (account_id, tag, hour, domain, measure, bucket)
);

INSERT INTO followers (name, position) VALUES ('email_stats', 0);
