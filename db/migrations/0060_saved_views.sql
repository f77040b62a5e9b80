-- Searches of the dashboard that a user has named. They are settings of a user, so that the log does not record them.
CREATE TABLE saved_views (
  account_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- The text of the search box.
  search text NOT NULL,
  PRIMARY KEY (account_id, user_id, name)
);
CREATE INDEX saved_views_by_user ON saved_views (user_id);
