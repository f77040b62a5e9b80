-- 33 bytes for each hash instead of 65. The key's pages are changed in any order, so that each is logged whole after each
-- checkpoint: fewer pages are less log.
-- squawk-ignore changing-column-type
ALTER TABLE content ALTER COLUMN sha256 TYPE bytea USING decode(sha256, 'hex');
