import {
  CaptureTag as LibraryCapture,
  CaseTag as LibraryCase,
  type Context,
  defaultOperators,
  Drop,
  type Emitter,
  evalToken,
  type Liquid,
  LookupType,
  type Operators,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
  toValue,
} from "liquidjs"
import * as Counting from "./Counting.ts"
import * as Limits from "./Limits.ts"

/** Rendered text that is already escaped: what `{% capture %}` holds, and the content of a layout. */
export class Captured extends Drop {
  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  override valueOf(): string {
    return this.#text
  }

  override toString(): string {
    return this.#text
  }
}

/** The library's tag holds a plain text, which would be escaped again, and does not count it. */
export class CaptureTag extends LibraryCapture {
  override *render(ctx: Context): Generator<unknown, void, string> {
    yield* super.render(ctx)
    const scope = ctx.bottom() as Record<string, unknown>
    const text = String(scope[this.variable])
    ctx.memoryLimit.use(text.length)
    scope[this.variable] = new Captured(text)
  }
}

/** Compares as the library does, without generators, and counts what it compares. Only lists and texts take long. */
const areEqual = (context: Context, one: unknown, other: unknown): boolean => {
  const [left, right] = [toValue(one), toValue(other)]
  if (typeof left === "string") context.memoryLimit.use(left.length / Limits.CHARS_AT_ONCE)
  if (!Array.isArray(left)) return left === right
  if (!Array.isArray(right) || left.length !== right.length) return false
  context.memoryLimit.use(left.length)
  return left.every((each, nth) => areEqual(context, each, right[nth]))
}

const compare =
  (name: "==" | "!=") =>
  (left: unknown, right: unknown, context: Context): ReturnType<NonNullable<Operators[string]>> => {
    if (!Counting.isWord(left) && !Counting.isWord(right)) return areEqual(context, left, right) === (name === "==")
    Counting.countRead(context, left, true)
    Counting.countRead(context, right, true)
    return (defaultOperators[name] as typeof OPERATORS.contains)(left, right, context)
  }

/** Texts are compared by their characters, and lists by the text that they make. */
const order =
  (name: "<" | "<=" | ">" | ">=") =>
  (left: unknown, right: unknown, context: Context): ReturnType<NonNullable<Operators[string]>> => {
    Counting.countRead(context, left)
    Counting.countRead(context, right)
    return (defaultOperators[name] as typeof OPERATORS.contains)(left, right, context)
  }

/** The library's operators; those that look at whole lists and texts count them. */
export const OPERATORS = {
  ...defaultOperators,
  "==": compare("=="),
  "!=": compare("!="),
  "<": order("<"),
  "<=": order("<="),
  ">": order(">"),
  ">=": order(">="),
  contains: (left: unknown, right: unknown, context: Context): ReturnType<NonNullable<Operators[string]>> => {
    const [list, item] = [toValue(left), toValue(right)]
    if (Array.isArray(list) && !Counting.isWord(right)) {
      context.memoryLimit.use(list.length)
      return list.some((each) => areEqual(context, each, item))
    }
    if (Array.isArray(list)) {
      context.memoryLimit.use(list.length * WORD_STEPS)
      Counting.countRead(context, list, true)
    } else {
      Counting.countRead(context, list)
      Counting.countRead(context, item)
      if (typeof list === "string" && typeof item === "string") Counting.countSearch(context, list, item)
    }
    return (defaultOperators["contains"] as typeof OPERATORS.contains)(left, right, context)
  },
}

const WORD_STEPS = 10

/** The library's tag compares without counting. */
export class CaseTag extends LibraryCase {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const target = toValue(yield this.value.value(ctx, ctx.opts.lenientIf))
    let isHit = false
    for (const { templates, values } of this.branches)
      for (const token of values) {
        const value = yield evalToken(token, ctx, ctx.opts.lenientIf)
        if (!(yield OPERATORS["=="](target, value, ctx))) continue
        isHit = true
        yield this.liquid.renderer.renderTemplates(templates, ctx, emitter)
        break
      }
    if (!isHit) yield this.liquid.renderer.renderTemplates(this.elseTemplates, ctx, emitter)
  }
}

/** `{% layout "base" %}`: what follows becomes `{{ content }}` of the layout. */
export class LayoutTag extends Tag {
  readonly #name: string
  readonly #templates: Array<Template>

  constructor(token: TagToken, rest: Array<TopLevelToken>, liquid: Liquid, parser: Parser) {
    super(token, rest, liquid)
    const name = this.tokenizer.readValue()?.getText() ?? ""
    if (!QUOTED.test(name)) throw new Error('layout needs a name in quotes, as in {% layout "base" %}')
    this.#name = name.slice(1, -1)
    this.#templates = parser.parseTokens(rest)
  }

  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, string> {
    const content = yield this.liquid.renderer.renderTemplates(this.#templates, ctx)
    ctx.memoryLimit.use(content.length)
    const layout = this.liquid.parseFileSync(this.#name, LookupType.Layouts)
    ctx.push({ content: new Captured(content) })
    yield this.liquid.renderer.renderTemplates(layout, ctx, emitter)
    ctx.pop()
  }

  *children(): Generator<unknown, Array<Template>> {
    return this.#templates
  }
}

const QUOTED = /^(["'])[^"']*\1$/u
