-- Who did what, newest first: past the millions of facts about mail, and about what the service did by itself.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX events_audit ON events (account_id, position)
  WHERE stream <> 'email' AND meta -> 'actor' ->> 'type' <> 'system';
