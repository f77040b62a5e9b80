import * as Pieces from "@waybill/domain/template/Pieces"
import * as Library from "liquidjs"
import * as Limits from "./Limits.ts"
import * as Liquid from "./Liquid.ts"
import * as Problem from "../html/Problem.ts"

/** A variable where a source first names it. */
export interface Use {
  /** Its name, and those of what is in it, such as `order` and `items`; a number stands for the place in a list. */
  readonly path: ReadonlyArray<string | number>
  /** Where it stands among the characters of the source. */
  readonly offset: number
}

export interface Uses {
  /** Variables that a message brings. */
  readonly expected: ReadonlyArray<Use>
  /** Every variable, those of loops included. */
  readonly all: ReadonlyArray<Use>
}

const NONE: Uses = { expected: [], all: [] }

/** Steps of the library, which looks for the line of each variable from the beginning of the source on. */
const MAX_STEPS = 50_000_000
/** A path of a variable, if not a word of Liquid or of a text in quotes. */
const PATH = /[\w.-]+/gu

/** Returns the tags of a source, and each of its outputs once: all that names variables. `places` are those in the source. */
const withoutText = (source: string) => {
  const outputs = new Set<string>()
  const kept: Array<string> = []
  const places: Array<{ readonly from: number; readonly at: number }> = []
  let from = 0
  let paths = 0
  for (const { begin, end, isComment, tag } of Pieces.read(source)) {
    const piece = source.slice(begin, end)
    if (isComment || (tag === undefined && outputs.has(piece))) continue
    outputs.add(piece)
    kept.push(piece)
    places.push({ from, at: begin })
    from += piece.length
    paths += piece.match(PATH)?.length ?? 0
  }
  return paths * from > MAX_STEPS ? { text: "", places: [] } : { text: kept.join(""), places }
}

/** Returns the variables that a source without problems names; none for a source of very many. */
export const usedIn = (form: Liquid.Form, source: string): Uses => {
  const { places, text } = withoutText(source)
  const usesOf = (found: Library.Variables): ReadonlyArray<Use> =>
    Object.values(found).flatMap((all) => {
      const seen = new Set<string>()
      return all.flatMap((variable): ReadonlyArray<Use> => {
        const name = String(variable)
        if (seen.has(name)) return []
        seen.add(name)
        const { col, row } = variable.location
        const offset = Problem.offsetOf(text, row, col)
        const piece = places.findLast(({ from }) => from <= offset)
        return [{ path: pathOf(variable), offset: piece === undefined ? 0 : piece.at + offset - piece.from }]
      })
    })
  try {
    const { globals, variables } = Library.analyzeSync(Liquid.parse(form, text), { partials: false })
    return { expected: usesOf(globals), all: usesOf(variables) }
  } catch {
    return NONE
  }
}

/** A name that another variable has, as in `a[b]`, is not known. */
const pathOf = ({ segments }: Library.Variable): ReadonlyArray<string | number> => {
  const end = segments.findIndex((segment) => typeof segment === "object")
  return segments.slice(0, Math.min(end === -1 ? segments.length : end, Limits.MAX_PATH_NAMES)) as ReadonlyArray<
    string | number
  >
}
