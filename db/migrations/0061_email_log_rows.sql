-- A row of the log holds what a message is found by. What is shown of a message is folded from its events, so the
-- record of 1,100 bytes is no longer stored, nor written again at each change.
-- Changing the type writes the table anew, which gives its space back. Before the first release these tables are empty
-- wherever this runs, so nobody waits for it.
ALTER TABLE email_log ADD COLUMN scheduled_at timestamptz;
UPDATE email_log SET scheduled_at = (record ->> 'scheduled_at')::timestamptz WHERE record ->> 'scheduled_at' IS NOT NULL;
-- squawk-ignore ban-drop-column, changing-column-type
ALTER TABLE email_log DROP COLUMN record, ALTER COLUMN subject TYPE text COLLATE "C";

-- Versions of the table with the old columns can neither be used nor kept up to date any more.
DO $$
DECLARE
  old record;
BEGIN
  FOR old IN SELECT name, version FROM projection_versions WHERE name = 'email_log' AND state <> 'live' LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I', old.name || '_v' || old.version);
    DELETE FROM projection_versions WHERE name = old.name AND version = old.version;
  END LOOP;
END $$;
