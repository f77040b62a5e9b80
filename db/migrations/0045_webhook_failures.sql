-- Since when a webhook's calls have failed without one success: a row a webhook that fails, none for one that works.
CREATE TABLE webhook_failures (
  account_id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (account_id, webhook_id)
);
