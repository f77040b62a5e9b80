-- Signing in to the dashboard. The shape of these tables is the sign-in library's, under our names; whose account a user
-- belongs to, and with which role, is the event log's to say and stands in `members`.

-- A user is who somebody is. The password moves to where the library looks for it, beside other ways of signing in.
ALTER TABLE users
  ADD COLUMN name text NOT NULL DEFAULT '',
  ADD COLUMN email_verified boolean NOT NULL DEFAULT true,
  ADD COLUMN image text,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN two_factor_enabled boolean NOT NULL DEFAULT false,
  -- Sees the whole instance, not only an account.
  ADD COLUMN operator boolean NOT NULL DEFAULT false;

CREATE TABLE user_credentials (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id text COLLATE "C" NOT NULL,
  -- How the provider names the user; its own id where the provider is a password.
  subject text COLLATE "C" NOT NULL,
  issuer text COLLATE "C",
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (provider_id, subject)
);
CREATE INDEX user_credentials_by_user ON user_credentials (user_id);

INSERT INTO user_credentials (id, user_id, provider_id, subject, password, created_at, updated_at)
SELECT id, id, 'credential', id, password_hash, created_at, created_at FROM users;

-- Nothing was released with them, and the hash must not stand twice.
-- squawk-ignore ban-drop-column
ALTER TABLE users DROP COLUMN password_hash, DROP COLUMN role, DROP COLUMN account_id;

CREATE TABLE user_sessions (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token text COLLATE "C" NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  ip_address text,
  user_agent text
);
CREATE INDEX user_sessions_by_user ON user_sessions (user_id);

-- What is promised for a short while: a link that sets a password, a challenge, a half-finished sign-in.
CREATE TABLE user_verifications (
  id text COLLATE "C" PRIMARY KEY,
  identifier text COLLATE "C" NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX user_verifications_by_identifier ON user_verifications (identifier);
CREATE INDEX user_verifications_by_expiry ON user_verifications (expires_at);

-- The secret and the codes are encrypted by the library, under a key derived from the instance's.
CREATE TABLE user_two_factors (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  secret text NOT NULL,
  backup_codes text NOT NULL,
  verified boolean NOT NULL DEFAULT true,
  failed_verification_count integer NOT NULL DEFAULT 0,
  locked_until timestamptz
);
CREATE INDEX user_two_factors_by_user ON user_two_factors (user_id);

CREATE TABLE user_passkeys (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text,
  public_key text NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  counter bigint NOT NULL,
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  transports text,
  aaguid text,
  created_at timestamptz
);
CREATE INDEX user_passkeys_by_user ON user_passkeys (user_id);
CREATE UNIQUE INDEX user_passkeys_by_credential ON user_passkeys (credential_id);

-- Tries to sign in, counted for all nodes.
CREATE TABLE user_rate_limits (
  id text COLLATE "C" PRIMARY KEY,
  key text COLLATE "C" NOT NULL UNIQUE,
  count integer NOT NULL,
  last_request bigint NOT NULL
);

-- Who belongs to an account: a fold of the account's team.
CREATE TABLE members (
  account_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  email text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  record jsonb NOT NULL,
  PRIMARY KEY (account_id, user_id)
);
-- One address belongs to one account.
CREATE UNIQUE INDEX members_by_user ON members (user_id) WHERE status <> 'removed';
CREATE UNIQUE INDEX members_by_email ON members (lower(email)) WHERE status <> 'removed';
