-- Cells hold the tables of accounts (docs/scaling.md). The schema `public` is the first one and holds all accounts that are
-- not named here, so that an installation with one cell reads none of these tables to find an account.
CREATE TABLE cells (
  name text COLLATE "C" NOT NULL,
  -- An `open` cell takes new accounts, a `full` one does not, and a `draining` one is being emptied.
  state text COLLATE "C" NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT cells_pkey PRIMARY KEY (name),
  CONSTRAINT cells_state_check CHECK (state IN ('open', 'full', 'draining'))
);
INSERT INTO cells (name, state) VALUES ('public', 'open');

CREATE TABLE account_cells (
  account_id text COLLATE "C" NOT NULL,
  cell text COLLATE "C" NOT NULL,
  -- The cell that the account is moving to, and the step that its move has reached.
  moving_to text COLLATE "C",
  step text COLLATE "C",
  changed_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT account_cells_pkey PRIMARY KEY (account_id),
  CONSTRAINT account_cells_cell_fkey FOREIGN KEY (cell) REFERENCES cells (name),
  CONSTRAINT account_cells_moving_to_fkey FOREIGN KEY (moving_to) REFERENCES cells (name),
  CONSTRAINT account_cells_step_check CHECK (
    (moving_to IS NULL) = (step IS NULL) AND (step IN ('draining', 'fenced', 'cleaning')))
);
CREATE INDEX account_cells_moving ON account_cells (account_id) WHERE moving_to IS NOT NULL;

-- Accounts outside the first cell by what a request names them by: the hash of an API key, or a user who signs in.
CREATE TABLE account_names (
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  CONSTRAINT account_names_pkey PRIMARY KEY (kind, name),
  CONSTRAINT account_names_kind_check CHECK (kind IN ('api_key', 'user'))
);
CREATE INDEX account_names_by_account ON account_names (account_id);

-- Counts the changes of these tables that processes must notice before they trust what they remember of them.
CREATE SEQUENCE cell_change AS bigint;
