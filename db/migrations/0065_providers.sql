-- Addresses at which mail providers report what became of the mail that they were handed.
CREATE TABLE provider_hooks (
  id text COLLATE "C" PRIMARY KEY,
  provider text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- SHA-256 of the token in the address.
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Events that were recorded, that were known already or said nothing new, and that were about no known message.
  recorded bigint NOT NULL DEFAULT 0,
  unchanged bigint NOT NULL DEFAULT 0,
  unmatched bigint NOT NULL DEFAULT 0,
  -- Events that could not be read, and calls that were refused.
  malformed bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  last_call_at timestamptz,
  -- When the newest event happened, as the provider says, and how long it took to arrive.
  last_event_at timestamptz,
  lag_ms bigint,
  last_refusal text
);

-- Ids by which providers name mail that they were handed, for those that do not report our Message-ID.
CREATE TABLE provider_messages (
  ref text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX provider_messages_by_age ON provider_messages (created_at);

-- Events of opens and clicks that were recorded, so that a repeated call counts them once, and events about no known
-- message, with their payload.
CREATE TABLE provider_events (
  hook_id text COLLATE "C" NOT NULL REFERENCES provider_hooks (id) ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- The provider's id of the message, and the event as it was read; NULL for a recorded event.
  ref text COLLATE "C",
  event text,
  PRIMARY KEY (hook_id, id)
);
CREATE INDEX provider_events_by_age ON provider_events (received_at);
