import type { SchemaAST } from "effect"

/** Largest number of items of a list or fields of a record, and the error about more. */
export interface Count {
  readonly maximum: number
  readonly message: (actual: number) => string
}

const KEY = "waybill/count"

type Check = NonNullable<SchemaAST.AST["checks"]>[number]

const SHAPE_KEY = "waybill/shape"

/** Annotates the encoded form of a schema, which has no checks, with the schema whose counts it has. */
export const shape = (ast: SchemaAST.AST): { readonly [key: string]: unknown } => ({ [SHAPE_KEY]: ast })

export const shapeOf = ({ annotations }: SchemaAST.AST): SchemaAST.AST | undefined =>
  annotations?.[SHAPE_KEY] as SchemaAST.AST | undefined

/** Annotates a check with the number that it allows, so that it is known before the elements are decoded. */
export const annotation = (count: Count): { readonly [key: string]: unknown } => ({ [KEY]: count })

/** Returns the smallest number that checks allow; `undefined` if none is annotated. */
export const of = (checks: ReadonlyArray<Check> | undefined): Count | undefined => {
  let smallest: Count | undefined
  for (const check of checks ?? []) {
    const count = check._tag === "FilterGroup" ? of(check.checks) : (check.annotations?.[KEY] as Count | undefined)
    if (count !== undefined && count.maximum < (smallest?.maximum ?? Number.POSITIVE_INFINITY)) smallest = count
  }
  return smallest
}
