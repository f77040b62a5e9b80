import * as Id from "@waybill/domain/values/Id"
import type { Statement } from "effect/sql"
import type { Sql } from "../postgres/Sql.ts"

/**
 * Lowest bits of an id's milliseconds that a span leaves out, so that a span is 33 seconds. A key with little mail leads to
 * few other messages, and a key with much mail has few spans.
 */
const BITS = 15

/** Returns the span of an id. */
export const of = (id: string): number => at(Id.timeOf(id))

/** Returns the span of a time. */
export const at = (millis: number): number => Math.floor(millis / 2 ** BITS)

/** Returns the lowest key of a span. Keys of the span are below that of the next. */
export const firstKey = (sql: Sql, span: Statement.Fragment): Statement.Fragment =>
  sql`rpad(lpad(to_hex((${span})::bigint << ${sql.literal(String(BITS))}), 12, '0'), 32, '0')::uuid`
