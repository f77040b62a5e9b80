-- cells: every
-- Leaves of the events of a stream in the tree of the cell's log, and the salt without which they say nothing. Small: there is a
-- row for each message, which is found by the UUID in its id.
CREATE TABLE log_leaves (
  stream_key uuid PRIMARY KEY,
  -- Null once the data was erased.
  salt bytea,
  -- The index of each event in 6 bytes, from version 1.
  leaves bytea NOT NULL
)
-- Later events of a message change its row in place, without an entry more in the index.
WITH (fillfactor = 90);

-- Hashes of the tree, 256 of a level in a row.
CREATE TABLE log_tiles (
  level integer NOT NULL,
  n bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (level, n)
);

-- Number of leaves, and the hash of all of them. A single row.
CREATE TABLE log_heads (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  size bigint NOT NULL,
  root bytea NOT NULL
);

-- Names under which the tree was signed, the last one now. A log that may have lost leaves goes on under another name.
CREATE TABLE log_trees (
  tree integer PRIMARY KEY,
  origin text COLLATE "C" NOT NULL,
  epoch text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  note text COLLATE "C" NOT NULL,
  signed_at timestamptz NOT NULL
);

-- Accounts that came from another cell with events that this tree did not have.
CREATE TABLE log_arrivals (
  account text COLLATE "C" PRIMARY KEY,
  -- The events up to this position have leaves.
  position bigint NOT NULL,
  last_position bigint NOT NULL
);

INSERT INTO followers (name, position) VALUES ('log_tree', 0);
