-- Private keys and signing secrets, sealed under the instance key that key_id names. The owner's id is the id of its
-- stream, so a secret whose owner was never committed is known by the log.
CREATE TABLE secrets (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  nonce bytea NOT NULL CHECK (octet_length(nonce) = 12),
  ciphertext bytea NOT NULL CHECK (octet_length(ciphertext) >= 16),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  PRIMARY KEY (account_id, id, purpose)
);
CREATE INDEX secrets_by_key ON secrets (key_id);
CREATE INDEX secrets_by_expiry ON secrets (expires_at) WHERE expires_at IS NOT NULL;
