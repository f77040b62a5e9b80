-- Accounts whose tracked links an operator has stopped: every node asks for them every few seconds.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX accounts_links_stopped ON accounts (account_id) WHERE record ? 'links_stopped_at';
