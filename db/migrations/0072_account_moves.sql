-- cells: home
-- The cell that an account has left and whose rows are to be deleted, until its move has ended.
ALTER TABLE account_cells ADD COLUMN left_cell text COLLATE "C";
