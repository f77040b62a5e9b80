-- cells: every
-- The words of a search include senders. A follower with a new name reads the log from its beginning, so that mail accepted
-- before is found too. Processes of the former release, which would leave senders out, stop following, and search as before
-- in the log itself what the follower has not read.
DELETE FROM followers WHERE name = 'email_words';
INSERT INTO followers (name, position) VALUES ('search_words', 0);
