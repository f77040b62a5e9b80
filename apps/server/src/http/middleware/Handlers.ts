import type { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type * as Aggregate from "@waybill/domain/values/Aggregate"
import type { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Work } from "@waybill/store/commit/Commit"
import type { AnyEvent } from "@waybill/store/log/RecordedEvents"
import { type TypedAggregate, workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect } from "effect"
import * as RequestCommit from "../../accept/RequestCommit.ts"

type Groups = (typeof Api)["groups"]

/** The decoded request of an endpoint. */
export type EndpointCall<
  Group extends keyof Groups,
  Endpoint extends keyof Groups[Group]["endpoints"],
> = Groups[Group]["endpoints"][Endpoint] extends { readonly "~Request": infer Request } ? Request : never

type Key = CurrentKey["Service"]
type Yielded = Effect.Effect<unknown, unknown, unknown>
type Failure<Y> = [Y] extends [never] ? never : [Y] extends [Effect.Effect<unknown, infer E, unknown>] ? E : never
type Needs<Y> = [Y] extends [never] ? never : [Y] extends [Effect.Effect<unknown, unknown, infer R>] ? R : never

/** Makes a handler, which gets the key of its caller beside the request. */
export const withKey =
  <Call, Y extends Yielded, A>(handle: (key: Key, call: Call) => Generator<Y, A, never>) =>
  (call: Call): Effect.Effect<A, Failure<Y>, Needs<Y> | CurrentKey> =>
    Effect.flatMap(CurrentKey, (key) => Effect.gen(() => handle(key, call)) as Effect.Effect<A, Failure<Y>, Needs<Y>>)

/** Makes a handler that commits what its steps prepare. */
export const commits = <Call extends RequestCommit.Call, Y extends Yielded, A, E>(
  prepare: (key: Key, call: Call) => Generator<Y, Work<A, E>, never>,
  options?: RequestCommit.Options,
) => {
  const preparing = withKey(prepare)
  return (call: Call) => RequestCommit.commit(call, preparing(call), options)
}

/** Removes an object, and answers that it is deleted. */
export const remove = <const Name extends string, Id extends string, State, Event extends AnyEvent, E>(
  object: Name,
  aggregate: TypedAggregate<State, Event>,
  id: Id,
  decide: (now: Timestamp.Timestamp) => Aggregate.Decide<State, Event, E | NothingNew>,
) => RequestCommit.commitRepeatable(workOnStream(aggregate, id, decide, () => ({ object, id, deleted: true as const })))
