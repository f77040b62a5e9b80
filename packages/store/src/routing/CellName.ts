import { Redacted, Result } from "effect"

/** Name of a cell, which is the name of its schema. */
export type CellName = string

/** The cell that every installation begins with. Its schema also holds the tables that belong to no account. */
export const FIRST: CellName = "public"

const PATTERN = /^[a-z][a-z0-9_]{0,39}$/u
/** Schemas that exist already, or that Postgres, Citus, graphile-worker or extensions which Citus works with make. */
const RESERVED = /^(?:public|pg_.*|information_schema|graphile_.*|citus.*|columnar.*|here_.*|moving_.*|partman|cron)$/u

/** Checks the name of a new cell, or says in words what is wrong with it. */
export const parse = (text: string): Result.Result<CellName, string> => {
  if (!PATTERN.test(text))
    return Result.fail("must be 1 to 40 lower-case letters, digits and underscores, a letter first")
  return RESERVED.test(text) ? Result.fail("is the name of a schema with another purpose") : Result.succeed(text)
}

/** Search path of a cell's connections: the tables of the cell's accounts, then those that belong to no account. */
export const searchPathOf = (cell: CellName): string => (cell === FIRST ? FIRST : `${cell},${FIRST}`)

/** Schema of what a cell on a node of Citus has at that node alone: its positions, windows and signs of life. */
export const hereOf = (cell: CellName): string => `here_${cell}`

/** Returns the URL whose connections use the tables of a cell. */
export const urlOf = (url: Redacted.Redacted, cell: CellName): Redacted.Redacted =>
  cell === FIRST ? url : withSearchPath(new URL(Redacted.value(url)), searchPathOf(cell))

/** Returns the URL of a cell at the node of Citus that holds it. All servers of a cluster have the same databases and roles. */
export const nodeUrlOf = (url: Redacted.Redacted, cell: CellName, host: string, port: number): Redacted.Redacted => {
  const at = new URL(Redacted.value(url))
  at.hostname = host.includes(":") ? `[${host}]` : host
  at.port = String(port)
  for (const name of ["host", "port"]) at.searchParams.delete(name)
  return withSearchPath(at, `${cell},${hereOf(cell)},${FIRST}`)
}

const withSearchPath = (at: URL, path: string): Redacted.Redacted => {
  const before = at.searchParams.get("options")
  at.searchParams.set("options", `${before === null ? "" : `${before} `}-c search_path=${path}`)
  // A plus sign means a space only in forms.
  return Redacted.make(at.href.replaceAll("+", "%20"))
}
