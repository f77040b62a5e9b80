-- The record is answered with as it was written and never looked into where that has to be quick. As `json` it is kept as
-- that text; as `jsonb` it was taken apart and ordered anew at each write, which was most of what a row cost.
-- A node that still writes `jsonb` goes on: Postgres casts it on assignment.
-- Before the first release these tables are empty wherever this runs, so nobody waits for the table to be written anew.
-- squawk-ignore changing-column-type
ALTER TABLE email_log ALTER COLUMN record TYPE json USING record::json;
