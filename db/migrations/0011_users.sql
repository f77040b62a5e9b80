-- Who signs in to the dashboard. The hash is scrypt in the form `salt:key` (hexadecimal), which the sign-in library reads.
CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL UNIQUE,
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL
);
