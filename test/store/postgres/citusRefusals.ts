import * as MigrationFiles from "@waybill/store/database/MigrationFiles"

const HOME_TABLES: ReadonlySet<string> = new Set(["schema_migrations", ...(await MigrationFiles.homeTables())])

/** Names of functions by how much they may change while a statement runs. */
export interface Functions {
  /** Functions that are not immutable, such as `now` and `to_char`. */
  readonly mutable: ReadonlySet<string>
  /** Functions that may return another value each time, such as `random`. */
  readonly volatile: ReadonlySet<string>
  /** Tables that every cell has. */
  readonly cellTables: ReadonlySet<string>
}

/** A statement, or a part of one, that changes a table of a cell. */
interface Change {
  readonly kind: "INSERT" | "UPDATE" | "DELETE"
  readonly isWhole: boolean
  /** The change without the subqueries in it. */
  readonly own: string
}

/** Returns why Citus refuses a statement on a cell that lies on a node of its own, or evaluates it on the wrong server. */
export const refusals = (text: string, functions: Functions): ReadonlyArray<string> => {
  const changes = changesOf(text)
  const found = changes.flatMap((change) => refusalsOf(change, functions))
  if (changes.some(({ kind }) => kind !== "INSERT"))
    for (const call of calls(text, functions.volatile)) found.push(`changes rows with ${call}`)
  const tables = new Set([...text.matchAll(/\b[a-z_]+\b/gu)].map(([word]) => word).filter(isTable(functions)))
  if (tables.size > 0 && BESIDE.test(text)) found.push("uses locks, jobs or windows of the server beside a cell")
  if (changes.some(({ kind }) => kind === "INSERT") && LOCKED_JOIN.test(text))
    found.push("locks rows of a join beside an INSERT")
  if (/\bLOCK TABLE\b/u.test(text) && (tables.size > 0 || text.includes('"?"')))
    found.push("locks a table on every node")
  if (changesHome(text) && tables.size > 0) found.push("changes a home table by what it reads in a cell")
  return [...new Set(found)]
}

const isTable =
  ({ cellTables }: Functions) =>
  (word: string) =>
    cellTables.has(word) && !HOME_TABLES.has(word)

/** What a node has beside the tables of Citus, which takes no statement with both. */
const BESIDE =
  /\b(?:pg_locks|cell_change|graphile_worker|rate_windows|processes|log_epochs)\b|\b(?:FROM|JOIN) event_position\b/u
const LOCKED_JOIN = /\bJOIN\b[^()]*(?:\([^()]*\)[^()]*)*\bFOR (?:NO KEY UPDATE|UPDATE|SHARE|KEY SHARE)\b/u
const CHANGE = /(?<!\bDO |\bFOR |\bKEY )\b(INSERT INTO|UPDATE|DELETE FROM) (?:ONLY )?("\?"|[a-z_]+)/gu

/** Rows for a home table may come from a cell; rows of a home table are not chosen by a cell. */
const changesHome = (text: string): boolean =>
  [...text.matchAll(CHANGE)].some(([, verb, table = ""]) => verb !== "INSERT INTO" && HOME_TABLES.has(table))

const changesOf = (text: string): ReadonlyArray<Change> =>
  [...text.matchAll(CHANGE)].flatMap(({ 1: verb = "", 2: table = "", index: at }) => {
    if (HOME_TABLES.has(table)) return []
    const whole = text.slice(at, endOfGroup(text, at))
    const kind = (verb.split(" ")[0] ?? "") as Change["kind"]
    return [{ kind, isWhole: at === 0, own: withoutSubqueries(whole) }]
  })

/** Returns where the group in parentheses ends that a position is in. */
const endOfGroup = (text: string, begin: number): number => {
  let depth = 0
  for (let at = begin; at < text.length; at++) {
    if (text[at] === "(") depth++
    else if (text[at] === ")" && depth-- === 0) return at
  }
  return text.length
}

const withoutSubqueries = (text: string): string => {
  const begin = /\((?=\s*(?:SELECT|WITH)\b)/u.exec(text)
  if (begin === null) return text
  const end = endOfGroup(text, begin.index + 1)
  return `${text.slice(0, begin.index)}(SUBQUERY)${withoutSubqueries(text.slice(end + 1))}`
}

const calls = (text: string, names: ReadonlySet<string>): ReadonlyArray<string> =>
  [...text.matchAll(/\b([a-z_][a-z0-9_]*)\((?=([^()]*))/gu)].flatMap(([, name = "", values = ""]) =>
    names.has(name) ? [`${name}(${values.trim()})`] : [],
  )

const refusalsOf = (change: Change, functions: Functions): ReadonlyArray<string> => {
  const { isWhole, kind, own } = change
  const found: Array<string> = []
  const [changed = "", returning = ""] = own.split(/\bRETURNING\b/u)
  const [body = "", conflict = ""] = changed.split(/\bON CONFLICT\b/u)
  for (const call of calls(returning, functions.mutable)) found.push(`returns ${call}`)
  for (const call of calls(conflict, functions.mutable)) found.push(`updates a conflicting row with ${call}`)
  if (conflict.includes("SUBQUERY")) found.push("updates a conflicting row with a subquery")
  if (kind === "INSERT") {
    const isSelect = /\bSELECT\b/u.test(body)
    if (isWhole && isSelect && /\$\d/u.test(conflict + returning))
      found.push("uses a value in ON CONFLICT or RETURNING of an INSERT that is not a part")
    if (isSelect && calls(body, functions.mutable).length > 0 && readsCell(body, functions))
      found.push("selects from the same cell with a function that is not immutable")
    return found
  }
  for (const call of calls(body, functions.mutable))
    if (
      /\b[a-z]+_?[a-z]*\b/u.test(
        call.slice(call.indexOf("(")).replaceAll(/'[^']*'|::\w+|=>|\b(?:secs|days|AT TIME ZONE)\b/gu, ""),
      )
    )
      found.push(`changes rows with ${call}, of a column`)
  for (const [expression] of body.matchAll(/\bCASE\b.*?\bEND\b|\bcoalesce\([^()]*(?:\([^()]*\)[^()]*)*\)/gu))
    if (calls(expression, functions.mutable).length > 0) found.push(`changes rows with a choice: ${expression}`)
  if (/\b(?!now\b)[a-z_.]+(?<!\)) [-+] (?:interval|make_interval)\b/u.test(body)) found.push("adds to a time of a row")
  return found
}

const readsCell = (body: string, functions: Functions): boolean =>
  [...body.matchAll(/\b(?:FROM|JOIN) ([a-z_]+)/gu)].some(([, table = ""]) => isTable(functions)(table))
