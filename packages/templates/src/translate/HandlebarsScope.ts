import * as LiquidTerms from "./LiquidTerms.ts"

/** The meaning of names in a block. */
export interface BlockScope {
  /** The value that names are looked up in; empty at the top. */
  readonly self: string
  readonly parent: BlockScope | undefined
  /** The loop around it. */
  readonly loop: { readonly item: string; readonly isObject: boolean } | undefined
  /** Names that a block gives to values. */
  readonly names: ReadonlyMap<string, string>
}

export const TOP: BlockScope = { self: "", parent: undefined, loop: undefined, names: new Map() }

/** Characters of a path, and of the one that it begins with in its block. */
const MAX_PATH_CHARS = 256
const MAX_SELF_CHARS = 1_024

const PART = /\[([^\]]*)\]|[^./[\]]+/gu
const PLAIN = /^(?:@|this\b|\.\.?(?:\/|$)|\.\/)?(?:[^\s!"#%&'()*+,;<=>@[\\\]^`{|}~]|\[[^\]]*\])*$/u

export type Found = { readonly liquid: string } | { readonly problem: string }

const problem = (text: string): Found => ({ problem: text })

/** Finds the value that a path means in a scope. */
export const find = (path: string, scope: BlockScope): Found => {
  if (path.startsWith("@")) return special(path, scope)
  if (!PLAIN.test(path)) return problem(`${path.slice(0, 64)} is not a path`)
  let rest = path
  let at: BlockScope = scope
  let isOwn = false
  while (rest === ".." || rest.startsWith("../")) {
    if (at.parent === undefined) return problem(`${path.slice(0, 64)} leads out of the template`)
    at = at.parent
    rest = rest.slice(3)
    isOwn = true
  }
  const own = /^(?:this|\.)(?:[./]|$)/u.exec(rest)
  if (own !== null) {
    rest = rest.slice(own[0].length)
    isOwn = true
  }
  const parts = partsOf(rest)
  const [first] = parts
  if (path.length > MAX_PATH_CHARS || at.self.length > MAX_SELF_CHARS)
    return problem(`${path.slice(0, 64)}… is longer than ${MAX_PATH_CHARS} characters`)
  const named = isOwn || first === undefined ? undefined : at.names.get(first)
  if (named !== undefined) return { liquid: under(named, parts.slice(1)) }
  if (first === undefined && at.self === "") return problem(`${path.slice(0, 64)} means all variables at once`)
  if (at.self === "" && first !== undefined && LiquidTerms.HIDDEN.has(first))
    return problem(`${first} is a name of Liquid itself`)
  return { liquid: under(at.self, parts) }
}

const partsOf = (path: string): ReadonlyArray<string> =>
  Array.from(path.matchAll(PART), ([part, inBrackets]) => inBrackets ?? part)

/** The number of items is `length` there, and `size` here. */
const under = (self: string, parts: ReadonlyArray<string>): string =>
  parts.reduce(
    (of, part, nth) =>
      LiquidTerms.property(of, part === "length" && nth > 0 && nth === parts.length - 1 ? "size" : part),
    self,
  )

const OF_LOOP: ReadonlyMap<string, string> = new Map([
  ["@index", "forloop.index0"],
  ["@first", "forloop.first"],
  ["@last", "forloop.last"],
])

const special = (path: string, scope: BlockScope): Found => {
  const root = /^@root[./](.+)$/u.exec(path)?.[1]
  if (root !== undefined) return find(root, TOP)
  const { loop } = scope
  if (path.startsWith("@../")) return problem(`${path.slice(0, 64)}: Liquid knows only the innermost loop`)
  const found = OF_LOOP.get(path)
  if (path === "@key" || found !== undefined) {
    if (loop === undefined) return problem(`${path} stands in no {{#each}}`)
    return { liquid: found ?? (loop.isObject ? `${loop.item}[0]` : "forloop.index0") }
  }
  return problem(`${path.slice(0, 64)} is not a name of Handlebars`)
}
