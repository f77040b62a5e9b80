-- cells: every
-- Heads of the tree that witnesses have signed: the newest one that so many have. Keys and signatures are in the same order.
CREATE TABLE log_cosignatures (
  tree integer NOT NULL,
  size bigint NOT NULL,
  note text COLLATE "C" NOT NULL,
  witnesses text[] COLLATE "C" NOT NULL,
  cosignatures text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (tree, size)
);

-- Until then a process asks the witnesses, and no other one does.
ALTER TABLE log_heads ADD COLUMN asked_until timestamptz;
