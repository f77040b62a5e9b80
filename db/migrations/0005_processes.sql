-- The processes that may hold leases. Each holds a session lock on its number as long as it lives, so that whoever gets
-- that lock knows that its former holder is dead, and is the only one to know it.
CREATE SEQUENCE process_number AS integer CACHE 1 CYCLE;

CREATE TABLE processes (
  id text COLLATE "C" PRIMARY KEY,
  number integer NOT NULL,
  -- What graphile-worker has locked its jobs with; those locks outlive a kill by hours.
  worker_ids text[] NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  beat_at timestamptz NOT NULL DEFAULT now()
);
ALTER SEQUENCE process_number OWNED BY processes.number;
