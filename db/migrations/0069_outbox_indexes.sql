-- A delivery is found by the id of its message, so only calls of webhooks are looked for by stream. The entries of an
-- account's deliveries share one key.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX outbox_by_account ON outbox (account_id) WHERE kind = 'delivery';
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX outbox_by_webhook ON outbox (account_id, stream_id) WHERE kind = 'webhook';
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX outbox_by_stream;
