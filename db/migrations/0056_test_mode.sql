-- Whether a key works with live or with test mail. The test mail of an account is in an account of its own, so no other table needs a
-- column, except the calls of webhooks: a webhook belongs to the live account and gets the events of both. A node of the release
-- before refuses test keys, because it does not know their format.
ALTER TABLE api_keys ADD COLUMN mode text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test'));
ALTER TABLE webhook_deliveries ADD COLUMN livemode boolean NOT NULL DEFAULT true;

-- Returns the account that holds the test mail of a live account: the same UUID, of version 8 instead of 7. The 15th character holds
-- the bits of the version. The code has the same function.
CREATE FUNCTION test_account_of(live_account_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT overlay(live_account_id PLACING
    translate(substr(live_account_id, 15, 1), '0123456789abcdefghjkmnpqrstvwxyz', 'yzwxtvrspqmnjkghefcdab8967452301')
    FROM 15 FOR 1)
$$;
