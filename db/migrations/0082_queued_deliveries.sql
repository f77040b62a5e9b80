-- cells: every
-- Finds the deliveries of queued messages apart from those of deferred ones, whose rows say so. An entry is as long as one of
-- the account alone.
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX outbox_by_account;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX outbox_by_account ON outbox (account_id, (payload = '{}')) WHERE kind = 'delivery';
