import type * as ApiError from "@waybill/api/errors/ApiError"
import { Effect } from "effect"
import { NativeError } from "./Door.ts"

/** Returns the other service's name of a field of our own API, such as `To[1]` for `to[1]`. */
export type Spelling = (path: string) => string

/** Returns an error that calls fields as the other service calls them. */
export const respell = (error: ApiError.Body["error"], spelling: Spelling): ApiError.Body["error"] => ({
  ...error,
  message: error.message.replaceAll(/`([\w.[\]-]+)`/gu, (_, path: string) => `\`${spelling(path)}\``),
  details: error.details.map(({ message, path }) => ({ path: spelling(path), message })),
})

/** Calls fields in refusals of our own API as the other service calls them. */
export const respelled = (spelling: Spelling) => changed((error) => respell(error, spelling))

/** Changes refusals of our own API. */
export const changed =
  (change: (error: ApiError.Body["error"]) => ApiError.Body["error"]) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.mapError(effect, (failure) => {
      if (!(failure instanceof NativeError)) return failure
      const { error, headers, status } = failure
      return new NativeError({ status, error: change(error), headers }) as E & NativeError
    })
