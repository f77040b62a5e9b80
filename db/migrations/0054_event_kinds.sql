-- Event kinds, with their schema version, that every node of this installation can read: EmailQueued/1. A kind is added once
-- all live nodes know it, and never removed. Events of other kinds are not written yet.
CREATE TABLE event_kinds (
  kind text COLLATE "C" PRIMARY KEY,
  opened_at timestamptz NOT NULL DEFAULT now()
);

-- The running nodes, of every role, and the event kinds that each can read. A node is dead when its heartbeat is too old.
CREATE TABLE nodes (
  id text COLLATE "C" PRIMARY KEY,
  release text NOT NULL,
  kinds text[] NOT NULL,
  beat_at timestamptz NOT NULL DEFAULT now()
);
