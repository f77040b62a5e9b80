-- A user belongs to one account, so the same address may stand for a user in each of several accounts: an invitation
-- tells nothing about other accounts and takes the address from none.
ALTER TABLE users DROP CONSTRAINT users_email_key;
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX users_by_email ON users (email);

-- Changes of passwords and second factors so far. A sign-in that began before one of them ends with it.
ALTER TABLE users ADD COLUMN proof_version integer NOT NULL DEFAULT 0;

-- squawk-ignore require-concurrent-index-deletion
DROP INDEX members_by_email;
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX members_by_email ON members (account_id, lower(email)) WHERE status <> 'removed';

-- Time step of the newest authenticator code that was accepted; this step and older ones are refused from then on.
ALTER TABLE user_two_factors ADD COLUMN last_step bigint;

-- One identity of the provider for each user: the one that signed in first.
DELETE FROM user_credentials AS later USING user_credentials AS first
WHERE later.user_id = first.user_id AND later.provider_id = first.provider_id
  AND (later.created_at, later.id) > (first.created_at, first.id);
-- squawk-ignore require-concurrent-index-creation
CREATE UNIQUE INDEX user_credentials_by_provider ON user_credentials (user_id, provider_id);
