import type { Detail } from "@waybill/domain/values/Refusal"
import { SchemaAST } from "effect"
import * as Counts from "./Counts.ts"
import * as Violations from "./Violations.ts"

/** Maximum items of a list, or fields of a record, of which the schema names no maximum. */
export const MAX_UNCOUNTED = 1_000

const CHECKED_KEY = "waybill/excess"
/** Annotates a schema that looks for what exceeds it when it decodes, so that a body is parsed once. */
export const CHECKED = { [CHECKED_KEY]: true }
export const isChecked = ({ ast }: { readonly ast: SchemaAST.AST }): boolean => ast.annotations?.[CHECKED_KEY] === true

/** Number of items and fields up to which nothing is left out, because decoding takes no time that matters. */
export const SMALL_SIZE = 500

/** A value without what exceeds its schema, and the violations by what was left out. */
export interface Bounded {
  readonly value: unknown
  readonly details: ReadonlyArray<Detail>
  /** Unknown fields that were left out, beyond those that are kept to be reported. */
  readonly more: number
  /** Whether the value has more items and fields than `SMALL_SIZE`. */
  readonly isLarge: boolean
  /** Whether the schema would refuse the value by its numbers of items and fields, or by an unknown field. */
  readonly isExceeded: boolean
}

/**
 * Leaves out of a value what a schema would refuse by its number alone: items and fields beyond the maximum, and unknown
 * fields beyond those that a refusal lists. Decoding what is kept takes no longer than decoding a valid value, while a
 * schema decodes every element before it counts them.
 */
export const bound = ({ ast }: { readonly ast: SchemaAST.AST }, sent: unknown): Bounded => {
  const found: Found = { path: [], details: [], unknown: 0, size: 0 }
  const value = walkOf(ast)?.(sent, found) ?? sent
  const { details, size, unknown } = found
  const isExceeded = details.length > 0 || unknown > 0
  if (size <= SMALL_SIZE) return { value: sent, details: [], more: 0, isLarge: false, isExceeded }
  return { value, details, more: Math.max(0, unknown - Violations.MAX_DETAILS), isLarge: true, isExceeded }
}

interface Found {
  readonly path: Array<PropertyKey>
  readonly details: Array<Detail>
  unknown: number
  size: number
}

/** Returns the value to keep, the same one if nothing was left out. */
type Walk = (value: unknown, found: Found) => unknown

const walks = new WeakMap<SchemaAST.AST, Walk | typeof LEAF>()
/** Marks a node that holds nothing to count. */
const LEAF = "leaf"

const walkOf = (ast: SchemaAST.AST): Walk | undefined => {
  let walk = walks.get(ast)
  if (walk === undefined) {
    // A schema that contains itself finds this one meanwhile.
    walks.set(ast, (value, found) => walkOf(ast)?.(value, found) ?? value)
    walk = build(ast) ?? LEAF
    walks.set(ast, walk)
  }
  return walk === LEAF ? undefined : walk
}

const build = (ast: SchemaAST.AST): Walk | undefined => {
  const nodes = nodesOf(ast)
  const wire = nodes.at(-1) ?? ast
  const count = Counts.of(nodes.flatMap(({ checks }) => checks ?? []))
  switch (wire._tag) {
    case "Arrays":
      return arrayWalk(wire, count)
    case "Objects":
      return wire.indexSignatures.length === 0 ? structWalk([wire]) : recordWalk(wire, count)
    case "Union":
      return unionWalk(wire)
    case "Suspend":
      return walkOf(wire.thunk())
    default:
      return undefined
  }
}

/** Returns a node and those that it is decoded from. The last one is what the client sends. */
const nodesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  ast.encoding === undefined ? [ast] : [ast, ...ast.encoding.flatMap(({ to }) => nodesOf(Counts.shapeOf(to) ?? to))]

const arrayWalk = (ast: SchemaAST.Arrays, count: Counts.Count = uncounted("items")): Walk => {
  const [rest] = ast.rest
  const item = rest === undefined ? undefined : walkOf(rest)
  return (value, found) => {
    if (!Array.isArray(value)) return value
    const isOver = value.length > count.maximum
    if (isOver) add(found, count.message(value.length))
    let kept: Array<unknown> = isOver ? value.slice(0, count.maximum) : value
    found.size += value.length
    if (item === undefined) return kept
    for (let nth = 0; nth < kept.length; nth++) {
      const each = within(found, nth, item, kept[nth])
      if (each === kept[nth]) continue
      if (kept === value) kept = value.slice()
      kept[nth] = each
    }
    return kept
  }
}

const recordWalk = (ast: SchemaAST.Objects, count: Counts.Count = uncounted("fields")): Walk => {
  const [signature] = ast.indexSignatures
  const item = signature === undefined ? undefined : walkOf(signature.type)
  return (value, found) => {
    if (!isObject(value)) return value
    const names = Object.keys(value)
    const isOver = names.length > count.maximum
    const fields = isOver ? names.slice(0, count.maximum) : names
    found.size += names.length
    if (isOver) add(found, count.message(names.length))
    else if (item === undefined) return value
    return Object.fromEntries(
      fields.map((name) => [name, item === undefined ? value[name] : within(found, name, item, value[name])]),
    )
  }
}

/** Walks an object of one of these schemas. A field that several have is kept as it is. */
const structWalk = (alternatives: ReadonlyArray<SchemaAST.Objects>): Walk => {
  const fields = new Map<string, Walk | undefined>()
  for (const { propertySignatures } of alternatives)
    for (const { name, type } of propertySignatures)
      fields.set(String(name), fields.has(String(name)) ? undefined : walkOf(type))
  const walked = [...fields].flatMap(([name, walk]) => (walk === undefined ? [] : [[name, walk] as const]))
  return (value, found) => {
    if (!isObject(value)) return value
    let kept = withoutUnknown(value, fields, found)
    for (const [name, walk] of walked) {
      if (!Object.hasOwn(value, name)) continue
      const each = within(found, name, walk, value[name])
      if (each === value[name]) continue
      if (kept === value) kept = { ...value }
      kept[name] = each
    }
    return kept
  }
}

/** Counts the unknown fields of an object, and leaves out those beyond the ones that a refusal lists. */
const withoutUnknown = (
  value: Record<string, unknown>,
  known: ReadonlyMap<string, unknown>,
  found: Found,
): Record<string, unknown> => {
  const names = Object.keys(value)
  const unknown = names.filter((name) => !known.has(name))
  const reported = Math.max(0, Violations.MAX_DETAILS - found.unknown)
  found.size += names.length
  found.unknown += unknown.length
  if (unknown.length <= reported) return value
  const keptNames = [...names.filter((name) => known.has(name)), ...unknown.slice(0, reported)]
  return Object.fromEntries(keptNames.map((name) => [name, value[name]]))
}

/** Follows the alternative whose kind a value has. */
const unionWalk = ({ types }: SchemaAST.Union): Walk | undefined => {
  const nodes = types.flatMap((type) => {
    const wire = nodesOf(type).at(-1) ?? type
    return SchemaAST.isUnion(wire) ? wire.types : [type]
  })
  const kinds = nodes.map((node) => ({ node, wire: nodesOf(node).at(-1) ?? node }))
  const lists = kinds.flatMap(({ node, wire }) => (SchemaAST.isArrays(wire) ? [node] : []))
  const objects = kinds.flatMap(({ node, wire }) => (SchemaAST.isObjects(wire) ? [{ node, wire }] : []))
  const ofList = lists.length === 1 && lists[0] !== undefined ? walkOf(lists[0]) : undefined
  const isStruct = objects.every(({ wire }) => wire.indexSignatures.length === 0)
  const [only] = objects
  const ofObject =
    objects.length === 1 && only !== undefined
      ? walkOf(only.node)
      : isStruct && objects.length > 0
        ? structWalk(objects.map(({ wire }) => wire))
        : undefined
  if (ofList === undefined && ofObject === undefined) return undefined
  return (value, found) => (Array.isArray(value) ? ofList : ofObject)?.(value, found) ?? value
}

const within = (found: Found, step: PropertyKey, walk: Walk, value: unknown): unknown => {
  found.path.push(step)
  const kept = walk(value, found)
  found.path.pop()
  return kept
}

const add = ({ details, path }: Found, message: string): void => {
  if (details.length < Violations.MAX_DETAILS) details.push({ path: Violations.formatPath(path), message })
}

const uncounted = (noun: string): Counts.Count => ({
  maximum: MAX_UNCOUNTED,
  message: (actual) => `takes at most ${MAX_UNCOUNTED} ${noun}; ${actual} were given`,
})

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
