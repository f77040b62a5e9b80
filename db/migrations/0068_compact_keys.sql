-- Rows of the log and of its search are keyed by 16 bytes instead of 30 letters, and by hashes of 8 bytes instead of texts.
-- An id is a prefix and 26 letters of base32, which are a UUID; both have the same order. The code has the same functions.

-- Returns the UUID in an id. The id must be valid.
CREATE FUNCTION id_key(id text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 AS $$
DECLARE
  digits CONSTANT bytea := '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000102030405060708090000000000000000000000000000000000000000000000000000000000000000000000000000000a0b0c0d0e0f101100121300141500161718191a001b1c1d1e1f0000000000';
  blank CONSTANT bytea := '................';
  t CONSTANT bytea := convert_to(right(id, 26), 'UTF8');
BEGIN
  RETURN encode(
    set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(blank,
      0, ((get_byte(digits, get_byte(t, 0)) << 5) | get_byte(digits, get_byte(t, 1))) & 255),
      1, ((get_byte(digits, get_byte(t, 2)) << 3) | (get_byte(digits, get_byte(t, 3)) >> 2)) & 255),
      2, ((get_byte(digits, get_byte(t, 3)) << 6) | (get_byte(digits, get_byte(t, 4)) << 1) | (get_byte(digits, get_byte(t, 5)) >> 4)) & 255),
      3, ((get_byte(digits, get_byte(t, 5)) << 4) | (get_byte(digits, get_byte(t, 6)) >> 1)) & 255),
      4, ((get_byte(digits, get_byte(t, 6)) << 7) | (get_byte(digits, get_byte(t, 7)) << 2) | (get_byte(digits, get_byte(t, 8)) >> 3)) & 255),
      5, ((get_byte(digits, get_byte(t, 8)) << 5) | get_byte(digits, get_byte(t, 9))) & 255),
      6, ((get_byte(digits, get_byte(t, 10)) << 3) | (get_byte(digits, get_byte(t, 11)) >> 2)) & 255),
      7, ((get_byte(digits, get_byte(t, 11)) << 6) | (get_byte(digits, get_byte(t, 12)) << 1) | (get_byte(digits, get_byte(t, 13)) >> 4)) & 255),
      8, ((get_byte(digits, get_byte(t, 13)) << 4) | (get_byte(digits, get_byte(t, 14)) >> 1)) & 255),
      9, ((get_byte(digits, get_byte(t, 14)) << 7) | (get_byte(digits, get_byte(t, 15)) << 2) | (get_byte(digits, get_byte(t, 16)) >> 3)) & 255),
      10, ((get_byte(digits, get_byte(t, 16)) << 5) | get_byte(digits, get_byte(t, 17))) & 255),
      11, ((get_byte(digits, get_byte(t, 18)) << 3) | (get_byte(digits, get_byte(t, 19)) >> 2)) & 255),
      12, ((get_byte(digits, get_byte(t, 19)) << 6) | (get_byte(digits, get_byte(t, 20)) << 1) | (get_byte(digits, get_byte(t, 21)) >> 4)) & 255),
      13, ((get_byte(digits, get_byte(t, 21)) << 4) | (get_byte(digits, get_byte(t, 22)) >> 1)) & 255),
      14, ((get_byte(digits, get_byte(t, 22)) << 7) | (get_byte(digits, get_byte(t, 23)) << 2) | (get_byte(digits, get_byte(t, 24)) >> 3)) & 255),
      15, ((get_byte(digits, get_byte(t, 24)) << 5) | get_byte(digits, get_byte(t, 25))) & 255), 'hex')::uuid;
END $$;

-- Returns the id with a prefix and a UUID.
CREATE FUNCTION id_of(prefix text, key uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 50 AS $$
DECLARE
  letters CONSTANT bytea := '0123456789abcdefghjkmnpqrstvwxyz';
  blank CONSTANT bytea := '..........................';
  b CONSTANT bytea := uuid_send(key);
BEGIN
  RETURN prefix || '_' || convert_from(
    set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(set_byte(blank,
      0, get_byte(letters, (get_byte(b, 0) >> 5) & 31)),
      1, get_byte(letters, (get_byte(b, 0)) & 31)),
      2, get_byte(letters, (get_byte(b, 1) >> 3) & 31)),
      3, get_byte(letters, ((get_byte(b, 1) << 2) | (get_byte(b, 2) >> 6)) & 31)),
      4, get_byte(letters, (get_byte(b, 2) >> 1) & 31)),
      5, get_byte(letters, ((get_byte(b, 2) << 4) | (get_byte(b, 3) >> 4)) & 31)),
      6, get_byte(letters, ((get_byte(b, 3) << 1) | (get_byte(b, 4) >> 7)) & 31)),
      7, get_byte(letters, (get_byte(b, 4) >> 2) & 31)),
      8, get_byte(letters, ((get_byte(b, 4) << 3) | (get_byte(b, 5) >> 5)) & 31)),
      9, get_byte(letters, (get_byte(b, 5)) & 31)),
      10, get_byte(letters, (get_byte(b, 6) >> 3) & 31)),
      11, get_byte(letters, ((get_byte(b, 6) << 2) | (get_byte(b, 7) >> 6)) & 31)),
      12, get_byte(letters, (get_byte(b, 7) >> 1) & 31)),
      13, get_byte(letters, ((get_byte(b, 7) << 4) | (get_byte(b, 8) >> 4)) & 31)),
      14, get_byte(letters, ((get_byte(b, 8) << 1) | (get_byte(b, 9) >> 7)) & 31)),
      15, get_byte(letters, (get_byte(b, 9) >> 2) & 31)),
      16, get_byte(letters, ((get_byte(b, 9) << 3) | (get_byte(b, 10) >> 5)) & 31)),
      17, get_byte(letters, (get_byte(b, 10)) & 31)),
      18, get_byte(letters, (get_byte(b, 11) >> 3) & 31)),
      19, get_byte(letters, ((get_byte(b, 11) << 2) | (get_byte(b, 12) >> 6)) & 31)),
      20, get_byte(letters, (get_byte(b, 12) >> 1) & 31)),
      21, get_byte(letters, ((get_byte(b, 12) << 4) | (get_byte(b, 13) >> 4)) & 31)),
      22, get_byte(letters, ((get_byte(b, 13) << 1) | (get_byte(b, 14) >> 7)) & 31)),
      23, get_byte(letters, (get_byte(b, 14) >> 2) & 31)),
      24, get_byte(letters, ((get_byte(b, 14) << 3) | (get_byte(b, 15) >> 5)) & 31)),
      25, get_byte(letters, (get_byte(b, 15)) & 31)), 'UTF8');
END $$;

-- Returns the first 8 bytes of the SHA-256 of a search term.
CREATE FUNCTION term_key(term text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ('x' || encode(substring(sha256(convert_to(term, 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
$$;

-- A large table takes longer than the limit of a statement.
SET LOCAL statement_timeout = 0;
LOCK TABLE email_log, email_log_terms, email_subjects, email_words, email_key_spans IN ACCESS EXCLUSIVE MODE;

-- Nothing is converted that would not be found again.
DO $$
BEGIN
  IF EXISTS (SELECT FROM email_log WHERE id <> id_of('msg', id_key(id)))
    OR EXISTS (SELECT FROM (SELECT DISTINCT account_id FROM email_log) AS a WHERE account_id <> id_of('acc', id_key(account_id)))
  THEN
    RAISE EXCEPTION 'email_log has rows whose ids are not valid';
  END IF;
END $$;

-- squawk-ignore renaming-table
ALTER TABLE email_log RENAME TO email_log_0067;
-- squawk-ignore renaming-table
ALTER TABLE email_log_terms RENAME TO email_log_terms_0067;
-- squawk-ignore renaming-table
ALTER TABLE email_subjects RENAME TO email_subjects_0067;
-- squawk-ignore renaming-table
ALTER TABLE email_key_spans RENAME TO email_key_spans_0067;

-- A row of the log holds what a message is found by: hashes of its sender, its domain, its subject, and one of its recipients and
-- of its tags. All columns have one length, so that rows and index entries of an account fill pages in the order of time.
CREATE TABLE email_log (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  from_key bigint NOT NULL,
  subject_key bigint NOT NULL,
  -- The lowest key of a recipient, and of a tag. Further ones are in email_log_terms.
  to_key bigint NOT NULL,
  tag_key bigint,
  domain_key integer NOT NULL,
  version integer NOT NULL,
  -- Numbers of EmailFacets.ts.
  -- squawk-ignore prefer-bigint-over-smallint
  status smallint NOT NULL,
  -- The status, unless it is one that nearly all messages have: queued and delivered are 0. No index has the status itself, so that
  -- the delivery of a message changes only its row.
  -- squawk-ignore prefer-bigint-over-smallint
  listed smallint NOT NULL DEFAULT 0,
  -- squawk-ignore prefer-bigint-over-smallint
  facets smallint NOT NULL DEFAULT 0
);
CREATE TABLE email_log_terms (
  account_id uuid NOT NULL,
  term bigint NOT NULL,
  email_id uuid NOT NULL
);
CREATE TABLE email_subjects (
  account_id uuid NOT NULL,
  term bigint NOT NULL,
  folded text COLLATE "C" NOT NULL
);
CREATE TABLE email_key_spans (
  account_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  -- Milliseconds of an id's time, without the lowest 15 bits.
  span integer NOT NULL
);

INSERT INTO email_log
SELECT id_key(l.account_id), id_key(l.id), term_key('from:' || from_address), term_key('subject:' || subject),
  coalesce(t.to_key, 0), t.tag_key, (term_key('domain:' || domain) >> 32)::integer, version, s.number,
  CASE WHEN l.status IN ('queued', 'delivered') THEN 0 ELSE s.number END, facets
FROM email_log_0067 l
JOIN unnest(ARRAY['queued', 'deferred', 'sent', 'delivered', 'bounced', 'failed', 'suppressed', 'canceled', 'complained'],
  ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8]) AS s(status, number) ON s.status = l.status
LEFT JOIN (
  SELECT account_id, email_id, min(term_key(term)) FILTER (WHERE starts_with(term, 'to:')) AS to_key,
    min(term_key(term)) FILTER (WHERE starts_with(term, 'tag:')) AS tag_key
  FROM email_log_terms_0067 WHERE NOT starts_with(term, 'subject:') GROUP BY account_id, email_id
) AS t ON t.account_id = l.account_id AND t.email_id = l.id
ORDER BY l.account_id, l.id;

INSERT INTO email_log_terms
SELECT DISTINCT l.account_id, t.term, l.id
FROM (
  SELECT id_key(account_id) AS account_id, term_key(term) AS term, id_key(email_id) AS email_id
  FROM email_log_terms_0067 WHERE NOT starts_with(term, 'subject:')
) AS t
JOIN email_log l ON l.account_id = t.account_id AND l.id = t.email_id
WHERE t.term <> l.to_key AND t.term IS DISTINCT FROM l.tag_key
ORDER BY 1, 2, 3;

INSERT INTO email_subjects
SELECT DISTINCT ON (account_id, term) account_id, term, folded
FROM (SELECT id_key(account_id) AS account_id, term_key('subject:' || folded) AS term, folded FROM email_subjects_0067) AS s
ORDER BY account_id, term;

INSERT INTO email_key_spans
SELECT DISTINCT id_key(account_id), id_key(api_key_id),
  (('x' || left(replace(id_key(rpad(span, 30, '0'))::text, '-', ''), 12))::bit(48)::bigint >> 15)::integer
FROM email_key_spans_0067 ORDER BY 1, 2, 3;

DO $$
BEGIN
  IF (SELECT count(*) FROM email_log) <> (SELECT count(*) FROM email_log_0067) THEN
    RAISE EXCEPTION 'email_log has rows whose status is not known';
  END IF;
END $$;

-- squawk-ignore ban-drop-table
DROP TABLE email_log_0067, email_log_terms_0067, email_subjects_0067, email_key_spans_0067;

-- squawk-ignore changing-column-type
ALTER TABLE email_words ALTER COLUMN account_id TYPE uuid USING id_key(account_id);

-- squawk-ignore adding-serial-primary-key-field
ALTER TABLE email_log ADD CONSTRAINT email_log_pkey PRIMARY KEY (account_id, id);
CREATE INDEX email_log_by_from ON email_log (account_id, from_key, id);
CREATE INDEX email_log_by_domain ON email_log (account_id, domain_key, id);
CREATE INDEX email_log_by_subject ON email_log (account_id, subject_key, id);
CREATE INDEX email_log_by_to ON email_log (account_id, to_key, id);
CREATE INDEX email_log_by_tag ON email_log (account_id, tag_key, id) WHERE tag_key IS NOT NULL;
CREATE INDEX email_log_by_status ON email_log (account_id, listed, id) WHERE listed > 0;
CREATE INDEX email_log_by_facets ON email_log (account_id, facets, id) WHERE facets > 0;
-- squawk-ignore adding-serial-primary-key-field
ALTER TABLE email_log_terms ADD CONSTRAINT email_log_terms_pkey PRIMARY KEY (account_id, term, email_id);
-- squawk-ignore adding-serial-primary-key-field
ALTER TABLE email_subjects ADD CONSTRAINT email_subjects_pkey PRIMARY KEY (account_id, term);
CREATE INDEX email_subjects_by_part ON email_subjects USING gin (account_id, folded gin_trgm_ops);
-- squawk-ignore adding-serial-primary-key-field
ALTER TABLE email_key_spans ADD CONSTRAINT email_key_spans_pkey PRIMARY KEY (account_id, api_key_id, span);

ALTER TABLE email_log SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.3);
ALTER TABLE email_log_terms SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.3);
ALTER TABLE email_subjects SET (autovacuum_analyze_scale_factor = 0.3);
ALTER TABLE email_key_spans SET (autovacuum_analyze_scale_factor = 0.3);
ANALYZE email_log, email_log_terms, email_subjects, email_words, email_key_spans;

-- Versions of the tables with the old columns can neither be used nor kept up to date any more.
DO $$
DECLARE
  old record;
BEGIN
  FOR old IN
    SELECT name, version FROM projection_versions
    WHERE name IN ('email_log', 'email_log_terms', 'email_subjects') AND state <> 'live'
  LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I', old.name || '_v' || old.version);
    DELETE FROM projection_versions WHERE name = old.name AND version = old.version;
  END LOOP;
END $$;
