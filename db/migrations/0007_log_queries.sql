-- Both come with Postgres and may be created by the owner of a database.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- The subjects of an account, each once: most mail says the same few things, so the dear index on parts of a text grows
-- with what is said, not with how often. `folded` is ASCII (see EmailSubjects.ts), because which letters pg_trgm sees
-- depends on the locale of the database.
CREATE TABLE email_subjects (
  account_id text COLLATE "C" NOT NULL,
  term text COLLATE "C" NOT NULL,
  folded text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, term)
);
CREATE INDEX email_subjects_by_part ON email_subjects USING gin (account_id, folded gin_trgm_ops);

-- With the status in them, a domain or a sender and a status are found together. It costs nothing: a change of status
-- writes a new entry into every index of the table anyway.
-- Before the first release these tables are empty wherever this runs, so nobody waits for it.
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX email_log_by_domain;
-- squawk-ignore require-concurrent-index-deletion
DROP INDEX email_log_by_from;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_log_by_domain ON email_log (account_id, domain, status, id);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX email_log_by_from ON email_log (account_id, from_address, status, id);

-- Pages of the log are read from these indexes alone as far as vacuum has been, so it comes often.
ALTER TABLE email_log SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
ALTER TABLE email_log_terms SET (autovacuum_vacuum_insert_scale_factor = 0.02);
