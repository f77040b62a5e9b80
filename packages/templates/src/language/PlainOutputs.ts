import * as Library from "liquidjs"
import type { RenderContext } from "./RenderContext.ts"

// The library evaluates each output by about eight generators, which takes most of the time of a rendering. Most outputs are
// a variable with a path of names and filters with literal arguments: their render is replaced by plain calls of the same
// functions of the library, in the same order. So is that of loops over lists that hold nothing else.

/** Lengths of a piece, by which it is looked at the clock. */
export const SHORT = 0
export const LONG = 1

/** Returns the values of tokens that are literals, or undefined if one of them is computed. */
const literalsOf = (
  tokens: ReadonlyArray<Library.Token | ReadonlyArray<unknown>>,
): ReadonlyArray<unknown> | undefined => {
  const values: Array<unknown> = []
  for (const token of tokens) {
    if (Array.isArray(token) || !("content" in token)) return undefined
    values.push(token.content)
  }
  return values
}

type Path = ReadonlyArray<string | number>

/** Returns the names of a variable that are all literals. */
const pathOf = (token: Library.Token | undefined): Path | undefined =>
  token !== undefined && Library.TypeGuards.isPropertyAccessToken(token) && token.variable === undefined
    ? (literalsOf(token.props) as Path | undefined)
    : undefined

/** Returns the function of a filter. What escapes an output has no name that is registered. */
const handlerOf = (engine: Library.Liquid, { name }: Library.Filter): unknown => {
  const filter = Object.hasOwn(engine.filters, name) ? engine.filters[name] : engine.options.outputEscape
  return typeof filter === "object" ? filter.handler : filter
}

/** Reads a property as the library does; at once that of an object which has it itself. Variables are JSON, without methods. */
const read = (context: RenderContext, value: unknown, name: string | number): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : context.readProperty(value as object, name)

const readPath = (context: RenderContext, path: Path): unknown => {
  let value: unknown = context.scopeOf(path[0] ?? "")
  for (const name of path) value = read(context, value, name)
  return value
}

/** Lets an output write without generators, if it is of the usual form. */
const simplify = (engine: Library.Liquid, output: Library.Output): boolean => {
  const { initial } = output.value
  const path = initial.postfix.length === 1 ? pathOf(initial.postfix[0]) : undefined
  const filters = output.value.filters.map((filter) => ({
    handler: handlerOf(engine, filter) as (...all: ReadonlyArray<unknown>) => unknown,
    literals: literalsOf(filter.args),
  }))
  if (path === undefined) return false
  const name = path.join(".")
  const hasDefault = output.value.filters.some((filter) => filter.name === "default")
  if (filters.some(({ literals }) => literals === undefined)) {
    const original = output.render.bind(output)
    const render = (context: RenderContext, emitter: Library.Emitter): unknown => {
      if (!hasDefault && readPath(context, path) === undefined) context.addMissing(name)
      return original(context, emitter)
    }
    output.render = render as never
    return false
  }
  const render = (context: RenderContext, emitter: Library.Emitter): void => {
    let value = readPath(context, path)
    if (value === undefined && !hasDefault) context.addMissing(name)
    const self = { context, liquid: engine }
    for (const { handler, literals = [] } of filters) {
      value = literals.length === 0 ? handler.call(self, value) : handler.call(self, value, ...literals)
      if (typeof value === "object") value = Library.toValueSync(value as never)
    }
    emitter.write(typeof value === "object" ? Library.toValue(value) : value)
  }
  output.render = render as never
  return true
}

/** Lets a loop over a list write without generators, if all in it does, and nothing asks where in the loop it is. */
const simplifyLoop = (loop: Library.ForTag): boolean => {
  const { collection, hash, templates, variable } = loop
  const path = pathOf(collection)
  if (path === undefined || Object.keys(hash.hash).length > 0 || loop.token.input.includes("forloop")) return false
  const original = loop.render.bind(loop)
  // Tells a later loop over the list where to go on.
  const register = `continue-${variable}-${collection.getText()}`
  const render = (context: RenderContext, emitter: Library.Emitter): unknown => {
    const items = readPath(context, path)
    if (!Array.isArray(items) || items.length === 0) return original(context, emitter)
    context.setRegister(register, items.length)
    const scope = Object.create(null) as Record<string, unknown>
    context.push(scope)
    for (const item of items) {
      scope[variable] = item
      for (const template of templates) begin(template, context, emitter)
    }
    context.pop()
    return undefined
  }
  loop.render = render as never
  return true
}

const isText = (token: Library.Token): token is Library.Token & { readonly getContent: () => string } =>
  token.kind === Library.TokenKind.HTML && "getContent" in token

const simplifyOne = (engine: Library.Liquid, template: Library.Template): boolean => {
  if (template instanceof Library.Output) return simplify(engine, template)
  if (isText(template.token)) {
    const text = template.token.getContent()
    template.render = (_, emitter) => emitter.write(text)
    return true
  }
  if (template.children === undefined) return false
  const children = Library.toValueSync(template.children(false, true) as never) as ReadonlyArray<Library.Template>
  const isPlain = simplifyAll(engine, children)
  return isPlain && template instanceof Library.ForTag && simplifyLoop(template)
}

/** Lets the plain outputs, texts and loops of templates, and of those in their tags, write at once. Returns whether all do. */
export const simplifyAll = (engine: Library.Liquid, templates: ReadonlyArray<Library.Template>): boolean =>
  templates.map((template) => simplifyOne(engine, template)).every((isPlain) => isPlain)

/** Renders pieces in order as the library does. A generator waits only for those that are not done at once, and begins there. */
export const renderPlainly = ({ renderer }: Library.Liquid): void => {
  const original = renderer.renderTemplates.bind(renderer)
  const render = (templates: Array<Library.Template>, context: Library.Context, emitter?: Library.Emitter) => {
    // Without an emitter, as for what is captured, the library makes one.
    if (emitter === undefined) return original(templates, context)
    if (templates.length === 0) context.renderLimit.check(SHORT)
    for (let nth = 0; nth < templates.length; nth++) {
      const rendering = begin(templates[nth] as Library.Template, context, emitter)
      if (rendering !== undefined) return goOn(templates, nth, rendering, context, emitter)
      if (context.breakCalled || context.continueCalled) break
    }
    return bufferOf(emitter)
  }
  renderer.renderTemplates = render as typeof renderer.renderTemplates
}

const begin = (template: Library.Template, context: Library.Context, emitter: Library.Emitter): unknown => {
  context.renderLimit.check(template instanceof Library.Tag ? LONG : SHORT)
  try {
    return template.render(context, emitter)
  } catch (error) {
    throw errorOf(error, template)
  }
}

function* goOn(
  templates: ReadonlyArray<Library.Template>,
  from: number,
  begun: unknown,
  context: Library.Context,
  emitter: Library.Emitter,
): Generator<unknown, string, unknown> {
  for (let nth = from; nth < templates.length; nth++) {
    const template = templates[nth] as Library.Template
    const rendering = nth === from ? begun : begin(template, context, emitter)
    try {
      const text = rendering === undefined ? undefined : yield rendering
      if (text !== undefined && text !== "") emitter.write(text)
    } catch (error) {
      throw errorOf(error, template)
    }
    if (context.breakCalled || context.continueCalled) break
  }
  return bufferOf(emitter)
}

const errorOf = (error: unknown, template: Library.Template): unknown =>
  Library.LiquidError.is(error) ? error : new Library.RenderError(error as Error, template)

const bufferOf = (emitter: Library.Emitter): string => ("buffer" in emitter ? (emitter.buffer as string) : "")
