/** Returns the address of another database on the same server, with the same role. */
export const onDatabase = (url: string, database: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}
