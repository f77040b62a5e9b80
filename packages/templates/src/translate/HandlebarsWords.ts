/** A word of a tag: its helper, a value or a call in brackets. */
export type Term =
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "literal"; readonly literal: string }
  | { readonly kind: "call"; readonly call: Call }

/** A helper, or a value if nothing follows. */
export interface Call {
  readonly head: Term
  readonly terms: ReadonlyArray<Term>
  /** `name=value`. */
  readonly named: ReadonlyMap<string, Term>
  /** `as |item index|`. */
  readonly blockNames: ReadonlyArray<string>
}

// A `[` without its `]` ends the reading, so that no other looks for it again.
const TOKEN = /\s*(?:("[^"]*"|'[^']*')|(as\s+\|[^|]*\|)|([()])|([A-Za-z_][\w-]*=)|((?:\[[^\]]*\]|[^\s()"'=|[\]])+))/uy
/** Calls within calls. */
const MAX_DEPTH = 8

/** Reads the words of a tag; undefined if they cannot be read. */
export const read = (body: string): Call | undefined => {
  const tokens: Array<RegExpExecArray> = []
  TOKEN.lastIndex = 0
  const text = body.trim()
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)
    if (token === null) return undefined
    tokens.push(token)
  }
  const reader = new Reader(tokens)
  const call = reader.call(1)
  return call !== undefined && reader.isAtEnd ? call : undefined
}

class Reader {
  readonly #tokens: ReadonlyArray<RegExpExecArray>
  #at = 0

  constructor(tokens: ReadonlyArray<RegExpExecArray>) {
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length
  }

  call(depth: number): Call | undefined {
    const head = this.#term(depth)
    if (head === undefined) return undefined
    const terms: Array<Term> = []
    const named = new Map<string, Term>()
    let blockNames: ReadonlyArray<string> = []
    while (!this.isAtEnd && this.#tokens[this.#at]?.[3] !== ")") {
      const [, , names, , name] = this.#tokens[this.#at] ?? []
      if (names !== undefined || name !== undefined) this.#at++
      if (names !== undefined) {
        blockNames = names
          .slice(names.indexOf("|") + 1, -1)
          .trim()
          .split(/\s+/u)
        continue
      }
      const term = this.#term(depth)
      if (term === undefined) return undefined
      if (name === undefined) terms.push(term)
      else named.set(name.slice(0, -1), term)
    }
    return { head, terms, named, blockNames }
  }

  #term(depth: number): Term | undefined {
    const [, text, , bracket, , word] = this.#tokens[this.#at++] ?? []
    if (text !== undefined) return { kind: "text", text: text.slice(1, -1) }
    if (bracket === "(" && depth < MAX_DEPTH) {
      const call = this.call(depth + 1)
      return call !== undefined && this.#tokens[this.#at++]?.[3] === ")" ? { kind: "call", call } : undefined
    }
    if (word === undefined) return undefined
    if (/^-?\d{1,15}(?:\.\d{1,15})?$/u.test(word) || word === "true" || word === "false")
      return { kind: "literal", literal: word }
    return word === "null" || word === "undefined" ? { kind: "literal", literal: "nil" } : { kind: "path", path: word }
  }
}
