-- API calls of accounts, refused ones too, with masked bodies. A row is written after its answer, and not at all under
-- pressure. The id begins with the time of the call, so days are ranges of ids: each is a table of its own, made by the first
-- call of the day or before, and dropped as a whole.
CREATE TABLE request_log (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  -- Masked query without its question mark; empty if there is none.
  query text NOT NULL,
  -- NULL if the client left before the answer.
  status integer,
  -- Reason of a refusal.
  reason text COLLATE "C",
  api_key_id text COLLATE "C",
  user_id text COLLATE "C",
  address text NOT NULL,
  duration_ms integer NOT NULL,
  -- Bytes of the body that were sent, and the masked and perhaps cut body; empty if there is none.
  body_bytes integer NOT NULL,
  body text NOT NULL,
  livemode boolean NOT NULL DEFAULT true,
  PRIMARY KEY (account_id, id)
) PARTITION BY RANGE (id);
-- Most calls are accepted sends, so the other indexes leave those out.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX request_log_refused ON request_log (account_id, status, id) WHERE status >= 400 OR status IS NULL;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX request_log_by_key ON request_log (account_id, api_key_id, id);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX request_log_by_path ON request_log (account_id, path, id) WHERE path <> '/v1/email/send';
