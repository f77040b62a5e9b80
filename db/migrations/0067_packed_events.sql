-- The fields of a message's events in the order of their layout (`packages/store/src/packed`), separated by tabs and
-- without names. Such events are nearly the whole log, and this takes a third of the bytes of their JSON. Events written
-- before this release stay as they are.
ALTER TABLE events ADD COLUMN packed text COLLATE "C";
-- squawk-ignore ban-drop-not-null
ALTER TABLE events ALTER COLUMN data DROP NOT NULL, ALTER COLUMN meta DROP NOT NULL;
-- squawk-ignore constraint-missing-not-valid
ALTER TABLE events ADD CONSTRAINT events_packed_check
  CHECK (CASE WHEN packed IS NULL THEN data IS NOT NULL AND meta IS NOT NULL ELSE data IS NULL AND meta IS NULL END);

-- A field of an event as text: the token of this number, or the field of this name. Null if the token is empty, which
-- means its usual value.
CREATE FUNCTION event_field(packed text, token integer, data jsonb, name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN packed IS NULL THEN data ->> name
    ELSE CASE left(split_part(packed, E'\t', token), 1)
      WHEN '' THEN NULL
      WHEN '\' THEN (substr(split_part(packed, E'\t', token), 2)::jsonb) #>> '{}'
      ELSE split_part(packed, E'\t', token)
    END
  END
$$;

-- The items of a field that is a list. An item that is alone may be packed without brackets.
CREATE FUNCTION event_items(packed text, token integer, data jsonb, name text) RETURNS SETOF jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_array_elements(CASE WHEN packed IS NULL THEN data -> name
    ELSE CASE left(split_part(packed, E'\t', token), 1)
      WHEN '' THEN '[]'::jsonb
      WHEN '\' THEN substr(split_part(packed, E'\t', token), 2)::jsonb
      WHEN '[' THEN split_part(packed, E'\t', token)::jsonb
      ELSE jsonb_build_array(split_part(packed, E'\t', token))
    END
  END)
$$;

-- The address of a mailbox: an object, a pair of address and name, or only an address.
CREATE FUNCTION mailbox_address(mailbox jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE jsonb_typeof(mailbox) WHEN 'object' THEN mailbox ->> 'address' WHEN 'array' THEN mailbox ->> 0
    ELSE mailbox #>> '{}' END
$$;

-- The hashes of a message's body and of its attachments. Without attachments, the hash is packed without JSON.
CREATE FUNCTION content_hashes(packed text, token integer, data jsonb) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hash FROM (SELECT CASE WHEN packed IS NULL THEN data -> 'content'
      WHEN starts_with(split_part(packed, E'\t', token), '\') THEN substr(split_part(packed, E'\t', token), 2)::jsonb
      ELSE jsonb_build_object('sha256', left(split_part(packed, E'\t', token), 64), 'attachments', '[]'::jsonb)
    END AS content) AS c
  CROSS JOIN LATERAL (SELECT content ->> 'sha256' AS hash
    UNION ALL SELECT a ->> 'sha256' FROM jsonb_array_elements(content -> 'attachments') AS a) AS h
$$;
