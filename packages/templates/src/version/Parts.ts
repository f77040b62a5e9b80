import * as TemplateState from "@waybill/domain/template/TemplateState"
import * as Limits from "../language/Limits.ts"
import * as Liquid from "../language/Liquid.ts"
import * as Translation from "../translate/Translation.ts"

/** Published partials and layouts of an account, by alias. */
export type Library = ReadonlyMap<string, TemplateState.TemplateSource>

/** Stands for a part that was not read, because there are too many or too large ones before it. */
export const BEYOND: TemplateState.TemplateSource = { ...TemplateState.EMPTY }

/** The names of the parts that a part uses. */
export const usesOf = (form: Liquid.Form, part: TemplateState.TemplateSource | undefined): ReadonlyArray<string> =>
  part === undefined ? [] : Liquid.usesOf(Translation.bodyInLiquid(part, form) ?? "")

export interface Collected {
  readonly parts: Liquid.Parts
  readonly problems: ReadonlyArray<PartProblem>
}

interface PartProblem {
  readonly message: string
  /** The part by which the sources come to it; undefined if it is about all of them together. */
  readonly used?: string
}

/** Collects the parts that sources use, those of the parts included, and says which are missing or use themselves. */
export const collect = (form: Liquid.Form, names: ReadonlyArray<string>, library: Library): Collected => {
  const parts: Record<string, string> = {}
  const problems: Array<PartProblem> = []
  const visit = (name: string, within: ReadonlyArray<string>): void => {
    const add = (message: string) => void problems.push({ message, used: within[0] ?? name })
    if (within.includes(name)) return add(`uses itself: ${[...within, name].join(" → ")}`)
    if (Object.hasOwn(parts, name) || problems.length > 0) return
    if (Object.keys(parts).length >= Limits.MAX_PARTS)
      return add(`uses more than ${Limits.MAX_PARTS} partials and layouts`)
    const part = library.get(name)
    if (part === undefined) return add(`uses ${name}, which is no published partial or layout`)
    if (part === BEYOND) return void problems.push(TOO_MUCH)
    const source = Translation.bodyInLiquid(part, form)
    if (source === null) return add(`uses ${name}, which has no ${form}`)
    for (const used of Liquid.usesOf(source)) visit(used, [...within, name])
    parts[name] = source
  }
  for (const name of names) visit(name, [])
  const sources = Object.values(parts)
  const total = (of: (source: string) => number) => sources.reduce((sum, source) => sum + of(source), 0)
  if (problems.includes(TOO_MUCH)) return { parts, problems }
  if (
    total((source) => source.length) > Limits.MAX_TOGETHER_CHARS ||
    total(Liquid.piecesOf) > Limits.MAX_TOGETHER_PIECES
  )
    problems.push(TOO_MUCH)
  return { parts, problems }
}

const TOO_MUCH: PartProblem = {
  message: `uses partials of more than ${Limits.MAX_TOGETHER_CHARS} characters or ${Limits.MAX_TOGETHER_PIECES} tags and variables`,
}
