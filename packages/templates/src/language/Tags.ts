import {
  CaptureTag as LibraryCapture,
  type Context,
  Drop,
  type Emitter,
  type Liquid,
  LookupType,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
} from "liquidjs"

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
