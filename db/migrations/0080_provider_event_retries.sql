-- cells: home
-- When an event that could not be recorded may be tried again, although its message is known.
ALTER TABLE provider_events ADD COLUMN retry_at timestamptz NOT NULL DEFAULT '-infinity';
-- Each call looks at the kept events of its hook, which are few among those of opens and clicks that were recorded.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX provider_events_kept ON provider_events (hook_id, received_at) WHERE event IS NOT NULL;
