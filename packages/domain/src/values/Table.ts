/**
 * Returns the entry of a table under a key that somebody else wrote. A plain object also answers to names that it inherits,
 * such as `constructor`, so `table[key]` would return a function where the table has no entry.
 */
export const at = <V>(table: Readonly<Record<string, V>>, key: string): V | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined
