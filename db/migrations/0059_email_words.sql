-- Addresses of recipients and tags of each account, for a search by a part of them. A follower of the log writes them after
-- the commits, so that a send writes nothing here; mail that it has not read yet is searched in the log itself.
CREATE TABLE email_words (
  account_id text COLLATE "C" NOT NULL,
  -- Key of the messages in email_log_terms: to:ana@example.org, tag:receipt.
  term text COLLATE "C" NOT NULL,
  -- The address or the tag, folded like the subjects of email_subjects.
  folded text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, term)
) WITH (autovacuum_analyze_scale_factor = 0.3);
CREATE INDEX email_words_by_part ON email_words USING gin (account_id, folded gin_trgm_ops);

-- Spans of about half a minute in which an API key sent mail: the first letters that ids of messages of that time share.
CREATE TABLE email_key_spans (
  account_id text COLLATE "C" NOT NULL,
  api_key_id text COLLATE "C" NOT NULL,
  span text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, api_key_id, span)
) WITH (autovacuum_analyze_scale_factor = 0.3);

-- The follower starts at the beginning of the log.
INSERT INTO followers (name, position) VALUES ('email_words', 0);
