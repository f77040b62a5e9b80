-- cells: home
-- Number of a cell with a server of its own, of which its positions of the log are made; given once.
CREATE SEQUENCE cell_number AS integer MINVALUE 1 MAXVALUE 63 NO CYCLE;

ALTER TABLE cells
  -- Mark of the database on a cell's own server, so that no other one is taken for it.
  ADD COLUMN identity uuid,
  -- URL of that server, sealed with the instance key; null for a schema of the first cell's server.
  ADD COLUMN address jsonb;
