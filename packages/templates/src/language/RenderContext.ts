import * as Library from "liquidjs"
import * as Counting from "./Counting.ts"

/** Steps of a name of an object whose names are counted. */
const KEY_STEPS = 5

function* nothing(): Generator<undefined> {}

/** Most variables of one part of a template that are told, and characters of each. */
const MAX_MISSING = 20
const MAX_MISSING_CHARS = 100

const isName = (value: unknown): boolean => typeof Library.toValue(value) !== "object" || value === null

/** The library's context, which tells in which scope a name is read; the library evaluates that by generators. */
export class RenderContext extends Library.Context {
  readonly #pushed: Array<object> = []
  /** Variables that were written without a value. */
  missing = new Set<string>()

  addMissing(name: string): void {
    if (this.missing.size < MAX_MISSING) this.missing.add(name.slice(0, MAX_MISSING_CHARS))
  }

  override push(scope: object): number {
    this.#pushed.push(scope)
    return super.push(scope)
  }

  override pop(): ReturnType<Library.Context["pop"]> {
    this.#pushed.pop()
    return super.pop()
  }

  /** A list or an object is no name: the library would write the whole of it as one. */
  override _get(paths: Parameters<Library.Context["_get"]>[0]): ReturnType<Library.Context["_get"]> {
    return isName(paths[0]) ? super._get(paths) : nothing()
  }

  override readProperty(of: Parameters<Library.Context["readProperty"]>[0], key: PropertyKey | Library.Drop): unknown {
    const name: unknown = Library.toValue(key)
    if (!isName(name)) return undefined
    Counting.countRead(this, name)
    if (name === "size" && typeof of === "object" && of !== null && !Array.isArray(of))
      this.memoryLimit.use(KEY_STEPS * Object.keys(of).length)
    return super.readProperty(of, key as string)
  }

  override spawn(scope: object = {}): RenderContext {
    const { globals, memoryLimit, opts, ownPropertyOnly, renderLimit, strictVariables, sync } = this
    const limits = { memoryLimit, renderLimit, liquid: this.liquid as unknown }
    const spawned = new RenderContext(scope, opts, { globals, ownPropertyOnly, strictVariables, sync }, limits)
    spawned.missing = this.missing
    return spawned
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
