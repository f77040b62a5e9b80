-- What was counted before is dropped, month by month, and is not counted again. The tables of the months are made by a
-- worker: EmailStatsMonths.ts.
ALTER TABLE followers ADD COLUMN kept_from timestamptz NOT NULL DEFAULT '-infinity';
