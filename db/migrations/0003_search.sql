-- cells: every
-- The reply code of EmailCodes.ts with which a server refused the message; 0 for nearly all messages, which the index leaves out.
-- Messages from before have theirs after `waybill projections rebuild email_log`. No row has one yet, so that the index is empty
-- and one scan of the table is all that writes wait for.
-- squawk-ignore prefer-bigint-over-smallint
ALTER TABLE email_log ADD COLUMN code smallint NOT NULL DEFAULT 0;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_log_by_code ON email_log (account_id, code, id) WHERE code > 0;

-- Hashes of the account with each of the first recipients of a refused call; NULL for other calls, and for those from before.
ALTER TABLE request_log ADD COLUMN recipients bigint[];
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX request_log_by_recipient ON request_log USING gin (recipients) WHERE recipients IS NOT NULL;
