import { Effect } from "effect"
import { NativeError } from "./Door.ts"

/** Calls fields in refusals of our own API as the other service calls them; `names` maps our name to theirs. */
export const renamed =
  (names: Readonly<Record<string, string>>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.mapError(effect, (failure) => {
      if (!(failure instanceof NativeError)) return failure
      const { error, headers, status } = failure
      const message = error.message.replaceAll(/`(\w+)/gu, (_, name: string) => `\`${names[name] ?? name}`)
      const details = error.details.map(({ path, message }) => ({
        path: path.replace(/^\w+/u, (name) => names[name] ?? name),
        message,
      }))
      return new NativeError({ status, error: { ...error, message, details }, headers }) as E & NativeError
    })
