-- Mail that the capture transport has taken, for the inbox of the dashboard and for test suites. One row a message: what
-- is tried again is the same mail to the last byte.
CREATE TABLE sandbox_messages (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  recipients text[] COLLATE "C" NOT NULL,
  subject text NOT NULL,
  mail_from text NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX sandbox_messages_by_expiry ON sandbox_messages (expires_at);
