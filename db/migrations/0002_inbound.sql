-- cells: every
-- Mail that was received. A read model.
CREATE TABLE inbound (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C",
  message_id text COLLATE "C",
  deleted boolean NOT NULL,
  record jsonb,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX inbound_by_thread ON inbound (account_id, thread_id, id);
CREATE INDEX inbound_by_message_id ON inbound (account_id, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX inbound_by_email ON inbound (account_id, email_id, id) WHERE email_id IS NOT NULL;

-- Received mail as it came, for as long as it is kept.
CREATE TABLE inbound_content (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  size_bytes integer NOT NULL,
  bytes bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX inbound_content_by_expiry ON inbound_content (expires_at);
