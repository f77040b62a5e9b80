import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/**
 * Returns an array as a parameter of a statement, with the type of its elements. Without it the driver infers the type of each
 * element, and cannot tell that of no elements, or of nothing but nulls.
 */
export const of = (oid: number, values: ReadonlyArray<unknown>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, oid))

export const texts = (values: ReadonlyArray<string | null>) => of(PgTypes.OID.text, values)
export const ints = (values: ReadonlyArray<number>) => of(PgTypes.OID.int4, values)
export const floats = (values: ReadonlyArray<number | null>) => of(PgTypes.OID.float8, values)
export const bigints = (values: ReadonlyArray<bigint>) => of(PgTypes.OID.int8, values)
export const booleans = (values: ReadonlyArray<boolean>) => of(PgTypes.OID.bool, values)
export const byteas = (values: ReadonlyArray<Uint8Array | null>) => of(PgTypes.OID.bytea, values)
export const jsonbs = (values: ReadonlyArray<unknown>) => of(PgTypes.OID.jsonb, values)
