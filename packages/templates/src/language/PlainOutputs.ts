import * as Library from "liquidjs"

// The library evaluates each output by about eight generators, which takes most of the time of a rendering. Most outputs are
// a variable with a path of names and filters with literal arguments: their render is replaced by plain calls of the same
// functions of the library, in the same order.

/** Fields of the library's objects that its types hide. */
interface Token {
  readonly content?: unknown
  readonly props?: ReadonlyArray<Token>
  readonly variable?: Token
}
interface HiddenFilter {
  readonly args: ReadonlyArray<Token | ReadonlyArray<unknown> | undefined>
  readonly handler: (this: object, ...all: ReadonlyArray<unknown>) => unknown
  readonly liquid: Library.Liquid
  readonly token: object
}
interface HiddenContext {
  readonly findScope: (key: unknown) => object
  readonly readProperty: (object: unknown, key: unknown) => unknown
}

/** Returns the values of tokens that are literals, or undefined if one of them is computed. */
const literalsOf = (tokens: ReadonlyArray<HiddenFilter["args"][number]>): ReadonlyArray<unknown> | undefined => {
  const values: Array<unknown> = []
  for (const token of tokens) {
    if (token === undefined || Array.isArray(token) || !("content" in token)) return undefined
    values.push(token.content)
  }
  return values
}

const pathOf = ({ initial }: Library.Value): ReadonlyArray<unknown> | undefined => {
  const [token, ...others] = (initial as unknown as { readonly postfix: ReadonlyArray<Token> }).postfix
  return token?.props === undefined || token.variable !== undefined || others.length > 0
    ? undefined
    : literalsOf(token.props)
}

/** Lets an output write without generators, if it is of the usual form. */
const simplify = (output: Library.Output): void => {
  const path = pathOf(output.value)
  const filters = (output.value.filters as unknown as ReadonlyArray<HiddenFilter>).map((filter) => ({
    ...filter,
    literals: literalsOf(filter.args),
  }))
  if (path === undefined || filters.some(({ literals }) => literals === undefined)) return
  const render = (context: Library.Context, emitter: Library.Emitter): void => {
    const reader = context as unknown as HiddenContext
    let value: unknown = reader.findScope.call(context, path[0])
    for (const name of path) value = reader.readProperty.call(context, value, name)
    for (const { handler, liquid, literals = [], token } of filters)
      value = Library.toValueSync(handler.call({ context, token, liquid }, value, ...literals) as never)
    emitter.write(Library.toValue(value))
  }
  output.render = render as never
}

const isText = (token: Library.Token): token is Library.Token & { readonly getContent: () => string } =>
  token.kind === Library.TokenKind.HTML && "getContent" in token

/** Lets the plain outputs and the texts of templates, and of those in their tags, write at once. */
export const simplifyAll = (templates: ReadonlyArray<Library.Template>): void => {
  for (const template of templates) {
    if (template instanceof Library.Output) simplify(template)
    else if (isText(template.token)) {
      const text = template.token.getContent()
      template.render = (_, emitter) => emitter.write(text)
    } else if (template.children !== undefined)
      simplifyAll(Library.toValueSync(template.children(false, true) as never) as ReadonlyArray<Library.Template>)
  }
}

/** Renders pieces in order as the library does, but waits only for those that are not done at once. */
export const renderPlainly = ({ renderer }: Library.Liquid): void => {
  const original = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = function* (templates, context, emitter) {
    // Without an emitter, as for what is captured, the library makes one.
    if (emitter === undefined) return yield* original(templates, context)
    for (const template of templates) {
      context.renderLimit.check(0)
      try {
        const rendering: unknown = template.render(context, emitter)
        const text = rendering === undefined ? undefined : yield rendering
        if (text !== undefined && text !== "") emitter.write(text)
      } catch (error) {
        throw Library.LiquidError.is(error) ? error : new Library.RenderError(error as Error, template)
      }
      if (context.breakCalled || context.continueCalled) break
    }
    return "buffer" in emitter ? emitter.buffer : ""
  }
}
