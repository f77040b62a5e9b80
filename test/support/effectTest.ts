import * as EffectVitest from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"
import { inTestCell } from "./cells/testCell.ts"

/** `@effect/vitest`, where the steps of a test may be a generator: `it.effect("…", function* () { … })`. */
export * from "@effect/vitest"

type Vitest<R> = EffectVitest.Vitest.MethodsNonLive<R>
type Options = Parameters<EffectVitest.Vitest.Test<never>>[2]

interface Tester<R> extends EffectVitest.Vitest.Tester<R> {
  (name: string, steps: () => Effect.gen.Return<unknown, unknown, R>, options?: Options): void
}

export type Methods<R> = EffectVitest.API &
  Pick<Vitest<R>, "prop" | "flakyTest" | "layer"> & { readonly effect: Tester<R | Scope.Scope> }

const isGenerator = (body: Function): body is () => Effect.gen.Return<unknown, unknown, never> =>
  body.constructor.name === "GeneratorFunction"

const acceptSteps = <R>(tester: EffectVitest.Vitest.Tester<R>): Tester<R> => {
  const register = (
    name: string,
    body: (context: EffectVitest.TestContext) => Effect.Effect<unknown, unknown, R>,
    options?: Options,
  ) => {
    const steps = (context: EffectVitest.TestContext) =>
      isGenerator(body) ? Effect.gen(body) : Effect.suspend(() => body(context))
    return tester(name, (context) => inTestCell(context, steps(context)), options)
  }
  const skipIf = (isSkipped: unknown) => (isSkipped ? tester.skip : register)
  return Object.assign(register as Tester<R>, { ...tester, skipIf })
}

const extend = <T extends object, M extends object>(target: T, members: M): T & M =>
  new Proxy(target, {
    get: (_, name, receiver) => Reflect.get(name in members ? members : target, name, receiver),
  }) as T & M

const { effect, live } = EffectVitest.it
export const it: Methods<never> & { readonly live: Tester<Scope.Scope> } = extend(EffectVitest.it, {
  effect: acceptSteps(effect),
  live: acceptSteps(live),
})

/** Builds the layer once for the tests that `define` registers. */
export const layer =
  <R, E>(provided: Layer.Layer<R, E>, options?: Parameters<typeof EffectVitest.layer>[1]) =>
  (name: string, define: (it: Methods<R>) => void): void =>
    EffectVitest.layer(provided, options)(name, (it) => define(extend(it, { effect: acceptSteps(it.effect) })))
