import type * as TemplateState from "@waybill/domain/template/TemplateState"
import { Effect } from "effect"
import { Sql } from "../../postgres/Sql.ts"

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
  const rows = yield* sql<Current & { readonly alias: string | null }>`
    SELECT id, alias, kind, archived, current, parts.parts FROM templates
    CROSS JOIN (
      SELECT coalesce(md5(string_agg(concat_ws(':', id, current), ' ' ORDER BY id)), '') AS parts FROM templates
      WHERE account_id = ${account_id} AND kind <> 'template' AND NOT archived AND current > 0) AS parts
    WHERE account_id = ${account_id}
      AND (id = ANY(${names}::text[]) OR (alias = ANY(${names}::text[]) AND NOT archived))`
  return new Map(
    rows.flatMap(
      (row) =>
        (row.alias === null
          ? [[row.id, row]]
          : [
              [row.id, row],
              [row.alias, row],
            ]) as Array<[string, Current]>,
    ),
  )
})

/** Returns the published partials and layouts of an account, by alias. */
export const library = Effect.fn("CurrentTemplates.library")(function* (account_id: string) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly alias: string; readonly source: TemplateState.TemplateSource }>`
    SELECT t.alias, v.source FROM templates t
    JOIN template_versions v ON v.account_id = t.account_id AND v.template_id = t.id AND v.number = t.current
    WHERE t.account_id = ${account_id} AND t.kind <> 'template' AND NOT t.archived AND t.alias IS NOT NULL`
  return new Map(rows.map(({ alias, source }) => [alias, source]))
})
