import * as NamedParts from "@waybill/domain/template/NamedParts"
import * as Pieces from "@waybill/domain/template/Pieces"
import * as Library from "liquidjs"
import * as Deadline from "./Deadline.ts"
import * as Engine from "./Engine.ts"
import * as Failures from "./Failures.ts"
import * as Filters from "./Filters.ts"
import * as Limits from "./Limits.ts"
import * as Markup from "../html/Markup.ts"
import * as PlainOutputs from "./PlainOutputs.ts"
import * as Problem from "../html/Problem.ts"
import { RenderContext } from "./RenderContext.ts"

export type { Form, Parts } from "./Engine.ts"

/** A source that was parsed, with the parts that it uses. */
export interface Program {
  readonly engine: Library.Liquid
  readonly templates: Array<Library.Template>
  /** Memory that it takes. */
  readonly bytes: number
}

/** Memory of an engine, of a tag or output, of a character in one, which may be a filter or operand, and of any character. */
const ENGINE_BYTES = 10_000
const PIECE_BYTES = 3_000
const PIECE_CHAR_BYTES = 90
const CHAR_BYTES = 2

const bytesOf = (sources: ReadonlyArray<string>): number =>
  sources.reduce(
    (bytes, source) =>
      bytes + source.length * CHAR_BYTES + piecesOf(source) * PIECE_BYTES + pieceCharsOf(source) * PIECE_CHAR_BYTES,
    ENGINE_BYTES,
  )

/** A piece may hold its own end in quotes, so the last one counts. */
const pieceCharsOf = (source: string): number =>
  source
    .split(PIECE)
    .slice(1)
    .reduce((chars, rest) => chars + Math.max(0, rest.lastIndexOf("}}"), rest.lastIndexOf("%}")), 0)

const PIECE = /\{\{|\{%/gu

/** The names of the partials and layouts that a source uses. */
export const usesOf = (source: string): ReadonlyArray<string> => [...new Set(matchesOf(source).map(({ name }) => name))]

const matchesOf = (source: string): ReadonlyArray<{ readonly name: string; readonly type: Library.LookupType }> =>
  NamedParts.tagsIn(source).map(({ name, tag }) => ({
    name,
    type: tag === "layout" ? Library.LookupType.Layouts : Library.LookupType.Partials,
  }))

/** A partial is chosen by its name alone, so that what a template uses is known before it is rendered. */
const NAMED = /^\{%-?\s*render\s+["']/u

/** Returns what is wrong with a source: what cannot be parsed, and variables that stand where none can. */
export const problemsOf = (form: Engine.Form, source: string): ReadonlyArray<Problem.Problem> => {
  if (source.length > Limits.MAX_SOURCE_CHARS)
    return [Problem.at(source, 0, `is longer than ${Limits.MAX_SOURCE_CHARS} characters`)]
  const size = sizeProblem(source)
  if (size !== undefined) return [size]
  const { problems: unparsed, rest } = parseProblems(form, source)
  if (rest === undefined) return unparsed
  const dynamic = Pieces.read(source).find(
    ({ begin, end, isComment, tag }) => tag === "render" && !isComment && !NAMED.test(source.slice(begin, end)),
  )
  const named =
    dynamic === undefined
      ? []
      : [Problem.at(source, dynamic.begin, 'render needs a name in quotes, as in {% render "footer" %}')]
  return [...unparsed, ...named, ...(form === "html" ? Markup.read(rest).problems : [])].toSorted(
    (one, other) => one.line - other.line || one.column - other.column,
  )
}

/** Number of the tags and outputs of a source. */
export const piecesOf = (source: string): number => source.match(PIECE)?.length ?? 0

/** Parsing takes time for each tag and output, and more for long ones. */
const sizeProblem = (source: string): Problem.Problem | undefined => {
  if (piecesOf(source) > Limits.MAX_PIECES)
    return Problem.at(source, 0, `has more than ${Limits.MAX_PIECES} tags and variables`)
  const long = Pieces.read(source).find(({ begin, end }) => end - begin > Limits.MAX_PIECE_CHARS)
  if (long === undefined) return undefined
  const open = long.tag === undefined ? "{{" : "{%"
  return Problem.at(source, long.begin, `${open} is not closed within ${Limits.MAX_PIECE_CHARS} characters`)
}

/** Engines that parse sources without their parts. */
const checkers: { readonly [F in Engine.Form]: Library.Liquid } = {
  html: Engine.make("html", {}),
  text: Engine.make("text", {}),
}

const problemOf = (error: unknown): Problem.Problem => ({
  ...Failures.placeOf(error),
  message: Failures.explain(error),
})

const parseProblem = (form: Engine.Form, source: string): Problem.Problem | undefined => {
  try {
    refuseLongPaths(checkers[form].parse(source))
    return undefined
  } catch (error) {
    return problemOf(error)
  }
}

type Named = Library.Value | Library.Token | undefined

const refuseLongPaths = (templates: ReadonlyArray<Library.Template>): void => {
  for (const template of templates) {
    const named: Iterable<Named> =
      template instanceof Library.Output ? [template.value] : (template.arguments?.() ?? [])
    for (const each of named) refuseLongPath(each)
    if (template.children !== undefined)
      refuseLongPaths(Library.toValueSync(template.children(false, true) as never) as ReadonlyArray<Library.Template>)
  }
}

const refuseLongPath = (named: Named): void => {
  if (named instanceof Library.Value) {
    for (const token of named.initial.postfix) refuseLongPath(token)
    for (const { args } of named.filters) for (const arg of args) refuseLongPath(Array.isArray(arg) ? arg[1] : arg)
  } else if (Library.TypeGuards.isRangeToken(named)) {
    refuseLongPath(named.lhs)
    refuseLongPath(named.rhs)
  } else if (Library.TypeGuards.isFilteredValueToken(named)) {
    for (const token of named.initial.postfix) refuseLongPath(token)
  } else if (Library.TypeGuards.isPropertyAccessToken(named)) {
    if (named.props.length > Limits.MAX_PATH_NAMES) throw new Library.ParseError(new Error(LONG_PATH), named)
    for (const token of [named.variable, ...named.props]) refuseLongPath(token)
  }
}

const LONG_PATH = `has a path of more than ${Limits.MAX_PATH_NAMES} names`

/**
 * Returns the errors of parsing, of which the library names the first: each is looked for without those before it, as long as
 * that costs no more than one largest source. `rest` is what can be parsed; undefined if an error is one of the structure.
 */
const parseProblems = (form: Engine.Form, source: string) => {
  const problems: Array<Problem.Problem> = []
  const times = Math.min(MAX_PIECES_TRIED / (piecesOf(source) + 1), Limits.MAX_SOURCE_CHARS / (source.length + 1))
  let rest: string | undefined = source
  for (let tried = 0; rest !== undefined && tried <= times; tried++) {
    const problem = parseProblem(form, rest)
    if (problem === undefined) return { problems, rest }
    problems.push(problem)
    rest = withoutPiece(rest, problem)
  }
  return { problems, rest: undefined }
}

const MAX_PIECES_TRIED = Limits.MAX_PIECES
/** Tags that stand for themselves; without another one, what it ends or begins would be wrong too. */
const SINGLE = /^(?:\{\{|\{%-?\s*(?!(?:end\w*|if|elsif|else|unless|for|case|when|capture|comment|raw|layout)\b))/u

/** Returns a source with spaces in the place of the piece that has a problem, if it can be read without it. */
const withoutPiece = (source: string, { column, line }: Problem.Problem): string | undefined => {
  const offset = Problem.offsetOf(source, line, column)
  const found = Pieces.read(source).find(({ begin, end }) => begin <= offset && offset < end)
  if (found === undefined) return undefined
  const piece = source.slice(found.begin, found.end)
  return SINGLE.test(piece)
    ? source.slice(0, found.begin) + piece.replaceAll(/[^\n]/gu, " ") + source.slice(found.end)
    : undefined
}

/** Escapes each output for its context: what stands in an attribute, an address or a style gets a filter of its own. */
const withContexts = (source: string): string => {
  const pieces: Array<string> = []
  let from = 0
  for (const { context, end } of Markup.read(source).outputs) {
    const until = source[end - 1] === "-" ? end - 1 : end
    const piece = source.slice(from, until)
    pieces.push(piece, RAW.test(piece.slice(-MAX_RAW_CHARS)) ? "" : ` | ${Engine.filterOf(context)}`)
    from = until
  }
  return [...pieces, source.slice(from)].join("")
}

const MAX_RAW_CHARS = 32
const RAW = /\|\s{0,9}raw\s{0,9}$/u

/** Parses a source that has no problems. */
export const compile = (form: Engine.Form, source: string, parts: Engine.Parts): Program => {
  const placed = (text: string) => (form === "html" ? withContexts(text) : text)
  const engine = Engine.make(
    form,
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, placed(part)])),
  )
  PlainOutputs.renderPlainly(engine)
  // Parsed now, so that no rendering spends its time on that.
  for (const { name, type } of [source, ...Object.values(parts)].flatMap(matchesOf))
    PlainOutputs.simplifyAll(engine, engine.parseFileSync(name, type))
  const templates = engine.parse(placed(source))
  PlainOutputs.simplifyAll(engine, templates)
  return { engine, templates, bytes: bytesOf([source, ...Object.values(parts)]) }
}

/** Collects what is written, up to the bound. */
class BoundedEmitter implements Library.Emitter {
  buffer = ""
  readonly #context: Library.Context

  constructor(context: Library.Context) {
    this.#context = context
  }

  write(value: unknown): void {
    const text = Engine.textOf(value, this.#context)
    if (this.buffer.length + text.length > Limits.MAX_OUTPUT_CHARS) throw new Error(OUTPUT_LIMIT)
    this.buffer += text
  }
}

const OUTPUT_LIMIT = `writes more than ${Limits.MAX_OUTPUT_CHARS} characters`

export type Rendered =
  /** `missing`: the variables that were written without a value. */
  | { readonly text: string; readonly missing: ReadonlyArray<string> }
  /** `isLate`: the time was over, which may be the machine's doing. */
  | { readonly problem: Problem.Problem; readonly isLate: boolean }

/** Steps of one piece between two looks at the clock. */
const STEPS_UNSEEN = 10_000

const lookWithinPieces = ({ memoryLimit, renderLimit }: Library.Context): void => {
  const use = memoryLimit.use.bind(memoryLimit)
  let unseen = 0
  memoryLimit.use = (steps) => {
    use(steps)
    unseen += steps > 0 ? steps : 0
    if (unseen < STEPS_UNSEEN) return
    unseen = 0
    renderLimit.check(PlainOutputs.LONG)
  }
}

/** Renders a program until a deadline. Variables are JSON: objects without methods. */
export const render = (
  { engine, templates }: Pick<Program, "engine" | "templates">,
  variables: object,
  writing: Filters.Writing,
  deadline: Deadline.Deadline = Deadline.within(Limits.RENDER_MS),
): Rendered => {
  const context = new RenderContext(
    variables,
    engine.options,
    { sync: true, globals: { [Filters.WRITING]: writing } },
    { liquid: engine },
  )
  // The library's own clock counts the work of other processes, too.
  context.renderLimit.check = (isLong) => {
    if (deadline.isOver(isLong !== PlainOutputs.SHORT)) throw new Error(Failures.LATE)
  }
  lookWithinPieces(context)
  const emitter = new BoundedEmitter(context)
  try {
    Library.toValueSync(engine.renderer.renderTemplates(templates, context, emitter))
    return { text: emitter.buffer, missing: [...context.missing] }
  } catch (error) {
    return { problem: problemOf(error), isLate: Failures.isLate(error) }
  }
}

/** Parses a source without problems, without its parts. */
export const parse = (form: Engine.Form, source: string): Array<Library.Template> => checkers[form].parse(source)
