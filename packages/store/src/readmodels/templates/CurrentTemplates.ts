import * as Turn from "@waybill/domain/flow/Turn"
import * as TemplateState from "@waybill/domain/template/TemplateState"
import { Deferred, Effect, Exit } from "effect"
import type { StoreUnavailable } from "../../postgres/StoreUnavailable.ts"
import { Sql } from "../../postgres/Sql.ts"
import { CurrentCell } from "../../routing/CurrentCell.ts"

/** The version that is sent by a template now. `parts` changes with each partial and layout of the account. */
export interface Current {
  readonly id: string
  readonly kind: TemplateState.TemplateKind
  readonly archived: boolean
  readonly current: number
  readonly parts: string
}

/** Returns which versions messages of these templates are made of, by the name by which each is asked for. */
export const find = Effect.fn("CurrentTemplates.find")(function* (account_id: string, names: ReadonlyArray<string>) {
  const sql = yield* Sql
  const cell = yield* CurrentCell
  const lookups = lookupsOf(sql, cell)
  const answer = Deferred.makeUnsafe<ReadonlyMap<string, Current>, StoreUnavailable>()
  lookups.waiting.push({ account_id, names, answer })
  if (!lookups.isRunning) {
    lookups.isRunning = true
    // Not a child: others wait for it, too.
    yield* Effect.forkDetach(answerAll(sql, lookups), { startImmediately: true })
  }
  return yield* Deferred.await(answer)
})

interface Lookup {
  readonly account_id: string
  readonly names: ReadonlyArray<string>
  readonly answer: Deferred.Deferred<ReadonlyMap<string, Current>, StoreUnavailable>
}

/** Lookups that wait for the statement which is running: each message of a template needs one, and many share a statement. */
interface Lookups {
  readonly waiting: Array<Lookup>
  isRunning: boolean
}

/** Names that one statement looks for, unless a single lookup has more. */
const MAX_NAMES = 1_000

const lookups = new WeakMap<Sql, Map<string, Lookups>>()

const lookupsOf = (sql: Sql, cell: string): Lookups => {
  const cells = lookups.get(sql) ?? new Map<string, Lookups>()
  lookups.set(sql, cells)
  const own = cells.get(cell) ?? { waiting: [], isRunning: false }
  cells.set(cell, own)
  return own
}

/** Answers lookups until none waits. */
const answerAll = Effect.fnUntraced(function* (sql: Sql, own: Lookups) {
  while (own.waiting.length > 0) {
    // Requests that were admitted together ask in the same turn.
    yield* Turn.next
    const taken: Array<Lookup> = []
    let names = 0
    for (let [next] = own.waiting; next !== undefined; [next] = own.waiting) {
      if (taken.length > 0 && names + next.names.length > MAX_NAMES) break
      names += next.names.length
      taken.push(next)
      own.waiting.shift()
    }
    const found = yield* Effect.exit(findAll(sql, taken))
    for (const { account_id, answer } of taken)
      Deferred.doneUnsafe(
        answer,
        Exit.map(found, (byAccount) => byAccount.get(account_id) ?? new Map<string, Current>()),
      )
  }
  own.isRunning = false
})

interface Row extends Current {
  readonly account_id: string
  readonly alias: string | null
}

/** Returns the templates of accounts by id and by alias. An archived one has no alias. */
const findAll = Effect.fnUntraced(function* (sql: Sql, wanted: ReadonlyArray<Lookup>) {
  const pairs = new Map(
    wanted.flatMap(({ account_id, names }) =>
      names.map((name) => [`${account_id} ${name}`, { account_id, name }] as const),
    ),
  )
  const accounts = [...pairs.values()].map(({ account_id }) => account_id)
  const names = [...pairs.values()].map(({ name }) => name)
  const rows = yield* sql<Row>`
    WITH wanted AS (SELECT * FROM unnest(${accounts}::text[], ${names}::text[]) AS wanted (account_id, name))
    SELECT t.*, coalesce(parts.parts, '') AS parts
    FROM (
      SELECT t.account_id, t.id, t.alias, t.kind, t.archived, t.current
      FROM wanted JOIN templates t ON t.account_id = wanted.account_id AND t.id = wanted.name
      UNION SELECT t.account_id, t.id, t.alias, t.kind, t.archived, t.current
      FROM wanted JOIN templates t ON t.account_id = wanted.account_id AND t.alias = wanted.name
    ) AS t
    LEFT JOIN (
      SELECT account_id, ${stateOf(sql)} AS parts FROM templates
      WHERE account_id = ANY(${accounts}::text[]) AND kind <> 'template' AND NOT archived AND current > 0
      GROUP BY account_id
    ) AS parts ON parts.account_id = t.account_id`
  const found = new Map<string, Map<string, Current>>()
  for (const { account_id, alias, ...current } of rows) {
    const own = found.get(account_id) ?? new Map<string, Current>()
    found.set(account_id, own.set(current.id, current))
    if (alias !== null && !current.archived) own.set(alias, current)
  }
  return found
})

interface PartRow {
  readonly state: string
  readonly alias: string | null
  readonly language: TemplateState.TemplateLanguage | null
  readonly body: string | null
  readonly is_beyond: boolean | null
}

/** A published part as it is used in one form. */
export interface Part {
  readonly alias: string
  readonly source: TemplateState.TemplateSource
  readonly body: string | null
  /** Whether those before it are too large together, so that it was not read. */
  readonly is_beyond: boolean
}

/**
 * Returns the published partials and layouts that have these aliases, and the state of all parts of the account at that time:
 * the same as in `Current`.
 */
export const parts = Effect.fn("CurrentTemplates.parts")(function* (
  account_id: string,
  form: "html" | "text",
  aliases: ReadonlyArray<string>,
  maxChars: number,
) {
  const sql = yield* Sql
  const rows = yield* sql<PartRow>`
    SELECT coalesce(state.parts, '') AS state, alias, language, is_beyond, CASE WHEN NOT is_beyond THEN body END AS body
    FROM (
      SELECT ${stateOf(sql)} AS parts FROM templates
      WHERE account_id = ${account_id} AND kind <> 'template' AND NOT archived AND current > 0
    ) AS state
    LEFT JOIN (
      SELECT alias, language, body,
        coalesce(sum(length(body)) OVER (ORDER BY alias) - length(body) > ${maxChars}::int, false) AS is_beyond
      FROM (
        SELECT t.alias, v.source ->> 'language' AS language, v.source ->> ${form}::text AS body FROM templates t
        JOIN template_versions v ON v.account_id = t.account_id AND v.template_id = t.id AND v.number = t.current
        WHERE t.account_id = ${account_id} AND t.alias = ANY(${aliases}::text[]) AND t.kind <> 'template' AND NOT t.archived
      ) AS bodies
    ) AS found ON true`
  return {
    state: rows[0]?.state ?? "",
    parts: rows.flatMap(({ alias, body, is_beyond, language }): ReadonlyArray<Part> => {
      const source = { ...TemplateState.EMPTY, ...(language === null ? {} : { language }) }
      return alias === null ? [] : [{ alias, source, body, is_beyond: is_beyond === true }]
    }),
  }
})

/** Runs readings of parts that all see the same state, whatever is published meanwhile. */
export const atOneMoment = <A, E, R>(readings: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Sql, (sql) =>
    sql.withTransaction(Effect.andThen(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`, readings)),
  )

/** Changes with each version, name and archiving of a part. */
const stateOf = (sql: Sql) => sql.literal("md5(string_agg(concat_ws(':', id, alias, current), ' ' ORDER BY id))")
