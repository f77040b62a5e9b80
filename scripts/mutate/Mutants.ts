import { stripTypeScriptTypes } from "node:module"
import { compileFunction } from "node:vm"

/** One small change to a file, such as a typical mistake. */
export interface Mutant {
  readonly file: string
  readonly line: number
  readonly kind: string
  readonly before: string
  readonly after: string
  readonly text: string
}

const beforeRegex = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\breturn|\btypeof|\bcase|=>)\s*$/

/** Blanks out comments, strings, templates and regular expressions, and keeps all positions. */
export const codeOf = (text: string): string => {
  let out = ""
  const blank = (length: number) => {
    out += text.slice(out.length, out.length + length).replaceAll(/[^\n]/gu, " ")
  }
  while (out.length < text.length) {
    const rest = text.slice(out.length)
    const hidden =
      /^\/\/[^\n]*/u.exec(rest) ??
      /^\/\*[^]*?\*\//u.exec(rest) ??
      /^"(?:\\[^]|[^"\\\n])*"/u.exec(rest) ??
      /^`(?:\\[^]|[^`\\])*`/u.exec(rest) ??
      (beforeRegex.test(out.slice(-12)) ? /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])+\/[a-z]*/u.exec(rest) : null)
    if (hidden === null) out += rest.charAt(0)
    else blank(hidden[0].length)
  }
  return out
}

interface Swap {
  readonly kind: string
  readonly pattern: RegExp
  readonly into: (found: RegExpExecArray) => string
}

const SWAPS: ReadonlyArray<Swap> = [
  { kind: "comparison", pattern: / (===|!==) /gu, into: ([, sign]) => (sign === "===" ? " !== " : " === ") },
  {
    kind: "comparison",
    pattern: / (<=|>=|<|>) (?=[\w(-])/gu,
    into: ([, sign = ""]) => ` ${{ "<=": "<", ">=": ">", "<": "<=", ">": ">=" }[sign]} `,
  },
  { kind: "boolean", pattern: / (&&|\|\|) /gu, into: ([, sign]) => (sign === "&&" ? " || " : " && ") },
  {
    kind: "boolean",
    pattern: /(?<!\| )\b(true|false)\b(?! \|)/gu,
    into: ([word]) => (word === "true" ? "false" : "true"),
  },
  { kind: "boolean", pattern: /!(?=[\w(])/gu, into: () => "" },
  {
    kind: "arithmetic",
    pattern: / ([+*-]) (?=[\w(])/gu,
    into: ([, s = ""]) => ` ${{ "+": "-", "-": "+", "*": "/" }[s]} `,
  },
  {
    kind: "literal",
    pattern: /(?<![\w.$])\d[\d_]*(?![\w.n])/gu,
    into: ([n]) => String(Number(n.replaceAll("_", "")) + 1),
  },
  { kind: "condition", pattern: /(?<=\bif \()(?=[^\n]*\)[^\n]*$)/gmu, into: () => "false && " },
  { kind: "condition", pattern: /(?<=\bif \()(?=[^\n]*\)[^\n]*$)/gmu, into: () => "true || " },
  {
    kind: "statement",
    pattern: /^ +(?:[\w.]+\.(?:push|set|add|delete)\([^\n]*\)|[\w.]+ (?:[+-]?=) [^\n]+)$/gmu,
    into: () => "",
  },
]

/**
 * Changes to a table of rules: removes a condition or a row. Runs on the full text, because regular expressions are
 * blank in the code.
 */
const RULES: ReadonlyArray<Swap> = [
  {
    kind: "condition",
    pattern: /(?<=[{\s])(?:text|enhanced|stages|code): *\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\/i?,? ?/gu,
    into: () => "",
  },
  { kind: "condition", pattern: /(?<=[{\s])code: "\d+",? ?/gu, into: () => "" },
  {
    kind: "literal",
    pattern: /(?<=class: )"[a-z_]+"/gu,
    into: ([found]) => (found === '"policy"' ? '"protocol"' : '"policy"'),
  },
  { kind: "statement", pattern: /^ {2}\{ id: [^\n]*\},$/gmu, into: () => "" },
]

/** Lines with types only. */
const TYPES = /^\s*(?:import|export type|export interface|type |interface |readonly \w+\??: [^=]*$|\| |declare )/u

const isSound = (text: string): boolean => {
  try {
    const plain = stripTypeScriptTypes(text).replaceAll(
      /^(?:import|export \{)[^\n]*(?:\n[^\n]*)*? from "[^"]*"$/gmu,
      "",
    )
    compileFunction(plain.replaceAll(/^import [^\n]*$/gmu, "").replaceAll(/^export /gmu, ""))
    return true
  } catch {
    return false
  }
}

/** Returns every change that leaves a valid program. */
export const mutantsOf = (file: string, text: string): ReadonlyArray<Mutant> => {
  const code = codeOf(text)
  const lines = text.split("\n")
  const found: Array<Mutant> = []
  const take = ({ into, kind, pattern }: Swap, where: string) => {
    for (const match of where.matchAll(pattern)) {
      const before = match[0]
      const line = text.slice(0, match.index).split("\n").length
      if (TYPES.test(lines[line - 1] ?? "")) continue
      const after = into(match as unknown as RegExpExecArray)
      const mutated = text.slice(0, match.index) + after + text.slice(match.index + before.length)
      if (mutated !== text && isSound(mutated)) found.push({ file, line, kind, before, after, text: mutated })
    }
  }
  for (const swap of SWAPS) take(swap, code)
  if (file.endsWith("ReplyRules.ts")) for (const swap of RULES) take(swap, text)
  return found
}
