-- cells: every
-- Routes of received mail. A read model.
CREATE TABLE inbound_routes (
  account_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  removed boolean NOT NULL,
  record jsonb,
  PRIMARY KEY (account_id, id)
);
