-- Accounts whose tracked links an operator has stopped: every node asks for them every few seconds.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX accounts_links_stopped ON accounts (account_id) WHERE record ? 'links_stopped_at';
-- Names of customers that links lead over: every node asks for them every few seconds.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX domains_tracking ON domains (account_id, id)
  WHERE record -> 'tracking_domain' ->> 'verified' = 'true' AND record ->> 'verified_at' IS NOT NULL;
