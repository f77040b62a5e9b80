import * as Address from "@waybill/domain/values/Address"
import type { Statement } from "effect/sql"
import type { Sql } from "../postgres/Sql.ts"
import * as TermKey from "../postgres/TermKey.ts"

/** Maximum recipients of a refused call by which the call is found. */
export const MAX_RECIPIENTS = 50

/** Begins the terms of recipients. With its account, a recipient has a key of its own in each, and none reads the calls of others. */
const PREFIX = "request:"

/** Returns the key of a recipient, which a row holds instead of the address. */
export const keyOf = (account_id: string, address: Address.Address): TermKey.TermKey =>
  TermKey.of(`${PREFIX}${account_id} ${Address.keyOf(address)}`)

/** Whether an address is a recipient of a row, of whatever account. */
export const isOne = (sql: Sql, row: string, address: Address.Address): Statement.Fragment =>
  sql`term_key(${PREFIX} || ${sql.literal(row)}.account_id || ${` ${Address.keyOf(address)}`}) = ANY(${sql.literal(row)}.recipients)`
