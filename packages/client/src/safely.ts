import type { Send, SendBatch } from "./prepareMessage.ts"
import type * as T from "./types.ts"
import { WaybillError } from "./WaybillError.ts"

/** Result of a call that does not throw. */
export type Result<A> =
  | { readonly data: A; readonly error: null }
  | { readonly data: null; readonly error: WaybillError }

/** The methods of a group that return a promise. Iterators have no `safe` variant. */
type SafeGroup<G> = {
  readonly [K in keyof G as G[K] extends (...args: never) => Promise<unknown> ? K : never]: SafeMethod<G[K]>
}

/** A method that returns its error. Of a method with overloads, TypeScript infers only the last one. */
type SafeMethod<F> = Send extends F
  ? Send<Result<T.Acknowledgement>>
  : SendBatch extends F
    ? SendBatch<Result<T.BatchAnswer>>
    : F extends (...args: infer P) => Promise<infer A>
      ? (...args: P) => Promise<Result<A>>
      : never

/** The groups of a client, whose methods return errors. */
export type Safe<C> = { readonly [K in keyof C as K extends "safe" ? never : K]: SafeGroup<C[K]> }

/** Returns the groups of a client with methods that return errors rather than throw them. */
export const safely = <C extends object>(client: C): Safe<C> =>
  mapValues(client, (group: Readonly<Record<string, Method>>) => mapValues(group, returningErrors)) as Safe<C>

type Method = (...args: ReadonlyArray<unknown>) => unknown

const returningErrors =
  (method: Method): Method =>
  async (...args): Promise<Result<unknown>> => {
    try {
      return { data: await method(...args), error: null }
    } catch (cause) {
      return { data: null, error: cause instanceof WaybillError ? cause : unexpected(cause) }
    }
  }

const mapValues = <A, B>(object: object, map: (value: A) => B): Readonly<Record<string, B>> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value as A)]))

const unexpected = (cause: unknown): WaybillError =>
  new WaybillError({ code: "unexpected", message: cause instanceof Error ? cause.message : String(cause), cause })
