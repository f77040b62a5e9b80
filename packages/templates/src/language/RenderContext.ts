import * as Library from "liquidjs"

/** The library's context, which tells in which scope a name is read; the library evaluates that by generators. */
export class RenderContext extends Library.Context {
  readonly #pushed: Array<object> = []

  override push(scope: object): number {
    this.#pushed.push(scope)
    return super.push(scope)
  }

  override pop(): ReturnType<Library.Context["pop"]> {
    this.#pushed.pop()
    return super.pop()
  }

  override spawn(scope: object = {}): RenderContext {
    const { globals, memoryLimit, opts, ownPropertyOnly, renderLimit, strictVariables, sync } = this
    const limits = { memoryLimit, renderLimit, liquid: this.liquid as unknown }
    return new RenderContext(scope, opts, { globals, ownPropertyOnly, strictVariables, sync }, limits)
  }

  /** The scope of a name, as the library finds it: the innermost one that has it, then the variables. */
  scopeOf(name: PropertyKey): object {
    for (let nth = this.#pushed.length - 1; nth >= 0; nth--) {
      const scope = this.#pushed[nth]
      if (scope !== undefined && name in scope) return scope
    }
    if (name in this.bottom()) return this.bottom()
    return name in this.environments ? this.environments : this.globals
  }
}
