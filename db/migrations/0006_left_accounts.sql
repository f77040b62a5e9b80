-- cells: every
-- Accounts that have left the cell, or are in the last step of leaving it: nothing is written for them here any more.
CREATE TABLE left_accounts (
  account_id text COLLATE "C" PRIMARY KEY,
  left_at timestamptz NOT NULL DEFAULT now()
);
