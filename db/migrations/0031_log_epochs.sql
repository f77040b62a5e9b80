-- The servers that this log was written on, one after another. A replica that was promoted, an archive that was read to
-- an earlier moment and a dump in another database are other servers than the one before: what that one had given out
-- last may be lost, so positions go on beyond whatever it can have reached.
CREATE TABLE log_epochs (
  epoch integer PRIMARY KEY CHECK (epoch >= 1),
  -- Of which kind of life: system identifier, timeline, database.
  server text COLLATE "C" NOT NULL,
  -- The last position that was known as the epoch began, and the one that it goes on after.
  last_position bigint NOT NULL,
  after_position bigint NOT NULL CHECK (after_position >= last_position),
  began_at timestamptz NOT NULL DEFAULT now()
);
