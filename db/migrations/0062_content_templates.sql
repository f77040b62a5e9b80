-- Bodies are compressed with zstd, and with what the bodies of their account have in common: a template. The foreign key
-- keeps a template as long as content needs it.
CREATE TABLE content_templates (
  account_id text COLLATE "C" NOT NULL,
  id bytea NOT NULL,
  bytes bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, id)
);

ALTER TABLE content ADD COLUMN compressed boolean NOT NULL DEFAULT false, ADD COLUMN template bytea;

-- Before the first release this table is empty wherever this runs, so nobody waits for the check and the index.
-- squawk-ignore adding-foreign-key-constraint, constraint-missing-not-valid
ALTER TABLE content ADD CONSTRAINT content_template FOREIGN KEY (account_id, template)
  REFERENCES content_templates (account_id, id);

-- Few different keys: equal ones share an entry, which costs about ten bytes a row.
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX content_by_template ON content (account_id, template) WHERE template IS NOT NULL;
