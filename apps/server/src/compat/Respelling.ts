import * as Table from "@waybill/domain/values/Table"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Detail, Refusal } from "@waybill/domain/values/Refusal"
import { Effect } from "effect"
import { causeOf, NativeError } from "./Door.ts"

/** Returns the other service's name of a field of our own API, such as `To[1]` for `to[1]`. */
export type Spelling = (path: string) => string

/** Returns a refusal with other details. The message of an invalid request says the first of them. */
export const withDetails = (refusal: Refusal, details: ReadonlyArray<Detail>): NativeError => {
  const cause = causeOf(refusal)
  if (!RequestRefusal.isInvalid(cause)) return new NativeError({ refusal: cause, details })
  const { more = 0, reason } = cause
  return new NativeError({ refusal: new RequestRefusal.InvalidRequest({ reason, details, more }), details })
}

/** Returns a refusal that calls fields as the other service calls them. */
export const respell = (refusal: Refusal, spelling: Spelling): NativeError =>
  withDetails(
    refusal,
    (refusal.details ?? []).map((detail) => ({ ...detail, path: spelling(detail.path) })),
  )

/** Calls fields in refusals of our own API as the other service calls them. */
export const respelled = (spelling: Spelling) => changed((refusal) => respell(refusal, spelling))

/** Does that for fields whose names alone differ; `names` maps our name to theirs. */
export const renamed = (names: Readonly<Record<string, string>>) =>
  respelled((path) => path.replace(/^\w+/u, (name) => Table.at(names, name) ?? name))

/** Changes refusals of our own API. */
export const changed =
  (change: (refusal: NativeError) => NativeError) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.mapError(effect, (failure) =>
      failure instanceof NativeError ? (change(failure) as E & NativeError) : failure,
    )
