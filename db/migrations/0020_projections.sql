-- The tables that a read model has been built into. The live one bears the read model's own name; a read model without a
-- row here was never rebuilt, and its live table is version 1.
CREATE TABLE projection_versions (
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  state text COLLATE "C" NOT NULL CHECK (state IN ('building', 'ready', 'live', 'kept')),
  -- The rows hold every event up to here. Of a live table it says nothing: commits write into it.
  position bigint NOT NULL,
  -- How many events the fill has folded.
  events bigint NOT NULL DEFAULT 0,
  -- How long it has been worked on, without the pauses between two runs.
  worked_ms bigint NOT NULL DEFAULT 0,
  -- Which release folds: a fill that another has begun is begun anew.
  release text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  PRIMARY KEY (name, version)
);
CREATE UNIQUE INDEX projection_versions_live ON projection_versions (name) WHERE state = 'live';
CREATE UNIQUE INDEX projection_versions_building ON projection_versions (name) WHERE state = 'building';

-- Stretches of the log, in the order of its key, that a fill has given out. What is done is written in the transaction
-- that writes the stretch's rows, so a fill goes on after a kill without doing anything twice.
CREATE TABLE projection_slices (
  name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  nth integer NOT NULL,
  after_account text COLLATE "C" NOT NULL,
  after_stream text COLLATE "C" NOT NULL,
  upto_account text COLLATE "C",
  upto_stream text COLLATE "C",
  done boolean NOT NULL DEFAULT false,
  PRIMARY KEY (name, version, nth),
  FOREIGN KEY (name, version) REFERENCES projection_versions ON DELETE CASCADE,
  CHECK ((upto_account IS NULL) = (upto_stream IS NULL))
);

-- How far each follower of the log has come. It moves in the transaction that writes what the follower has counted.
CREATE TABLE followers (
  name text COLLATE "C" PRIMARY KEY,
  position bigint NOT NULL,
  moved_at timestamptz NOT NULL DEFAULT now()
);
