-- cells: home
-- Group of the node of Citus that holds the cell, whose address Citus knows; null for other cells.
ALTER TABLE cells ADD COLUMN node_group integer;
