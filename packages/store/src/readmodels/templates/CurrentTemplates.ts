import * as Livemode from "@waybill/domain/account/Livemode"
import type { AccountId, TemplateId } from "@waybill/domain/values/Id"
import * as TemplateState from "@waybill/domain/template/TemplateState"
import { Effect } from "effect"
import { type Fact, pairs } from "../../log/Fact.ts"
import { type Client, Sql } from "../../postgres/Sql.ts"

/** The version that is sent by a template now. `parts` changes with each partial and layout of the account. */
export interface Current {
  readonly id: TemplateId
  readonly kind: TemplateState.TemplateKind
  readonly archived: boolean
  readonly current: number
  readonly parts: string
}

/** A template with the account and the names under which messages ask for it. */
export interface NamedCurrent extends Current {
  readonly account_id: string
  /** An archived template has none. */
  readonly alias: string | null
}

/** Selects the templates of accounts by id and by alias. */
export const select = (sql: Client<unknown>, accounts: ReadonlyArray<string>, names: ReadonlyArray<string>) => sql`
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

/** The current versions of templates, by id or alias. */
export const fact: Fact<NamedCurrent, (account: AccountId, name: string) => Current | undefined> = {
  read: (sql, needs) => {
    const { accounts, names } = pairs(needs, ({ templates }) => templates)
    return names.length === 0 ? [] : [{ rows: select(sql, accounts.map(Livemode.liveAccountOf), names) }]
  },
  of: (rows) => {
    const byName = rows.flatMap((row) =>
      named(row).map(([name, current]) => [`${row.account_id} ${name}`, current] as const),
    )
    const templates = new Map(byName)
    return (account, name) => templates.get(`${Livemode.liveAccountOf(account)} ${name}`)
  },
}

/** Returns the names under which messages ask for a template, and what is sent by it. */
export const named = ({ account_id: _, alias, ...current }: NamedCurrent): ReadonlyArray<readonly [string, Current]> =>
  alias === null || current.archived
    ? [[current.id, current]]
    : [
        [current.id, current],
        [alias, current],
      ]

/** Returns which versions messages of these templates are made of, by the names of each. */
export const find = Effect.fn("CurrentTemplates.find")(function* (account_id: string, names: ReadonlyArray<string>) {
  const sql = yield* Sql
  const rows = yield* sql<NamedCurrent>`${select(
    sql,
    names.map(() => account_id),
    names,
  )}`
  return new Map(rows.flatMap(named))
})

/** Returns the ids of templates that have no alias, by those of the names that are theirs. */
export const withoutAlias = Effect.fn("CurrentTemplates.withoutAlias")(function* (
  account_id: string,
  names: ReadonlyArray<string>,
) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly id: string; readonly name: string }>`
    SELECT DISTINCT ON (record ->> 'name') id, record ->> 'name' AS name FROM templates
    WHERE account_id = ${account_id} AND alias IS NULL AND NOT archived AND kind = 'template'
      AND record ->> 'name' = ANY(${names}::text[])
    ORDER BY record ->> 'name', id`
  return new Map(rows.map(({ id, name }) => [name, id]))
})

/** Returns aliases of templates that can be sent, at most so many. */
export const aliases = Effect.fn("CurrentTemplates.aliases")(function* (account_id: string, limit: number) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly alias: string }>`
    SELECT alias FROM templates
    WHERE account_id = ${account_id} AND alias IS NOT NULL AND NOT archived AND kind = 'template'
    ORDER BY alias LIMIT ${limit}`
  return rows.map(({ alias }) => alias)
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
const stateOf = (sql: Client<unknown>) =>
  sql.literal("md5(string_agg(concat_ws(':', id, alias, current), ' ' ORDER BY id))")
