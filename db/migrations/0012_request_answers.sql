-- cells: every
-- Masked answers of calls that change something or were refused; empty for other calls.
ALTER TABLE request_log ADD COLUMN answer text NOT NULL DEFAULT '';
