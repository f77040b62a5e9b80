-- Requests counted in fixed windows of one minute by this server's clock, for all nodes. UNLOGGED: a crash forgets at
-- most a minute, and no request waits for a flush. The room left in each page keeps the updates of a hot window in place.
CREATE UNLOGGED TABLE rate_windows (
  bucket text COLLATE "C" NOT NULL,
  window_start timestamptz NOT NULL,
  count integer NOT NULL CHECK (count >= 1),
  PRIMARY KEY (bucket, window_start)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- What a key allows, as the domain reads it: a mapped IPv4 block means the IPv4 block. A text that is no block allows
-- nothing, and above all fails nobody else's request in the same statement.
CREATE FUNCTION address_is_allowed(address text, blocks text[]) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  entry text;
  block inet;
BEGIN
  FOREACH entry IN ARRAY blocks LOOP
    BEGIN
      block := entry::inet;
      IF block <<= inet '::ffff:0:0/96' THEN
        block := set_masklen(regexp_replace(host(block), '^::ffff:', '')::inet, masklen(block) - 96);
      END IF;
      IF address::inet <<= block THEN
        RETURN true;
      END IF;
    EXCEPTION WHEN data_exception THEN
      CONTINUE;
    END;
  END LOOP;
  RETURN false;
END $$;
