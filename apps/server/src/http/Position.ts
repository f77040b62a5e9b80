import { Replica, type ReplicaShape } from "@waybill/store/postgres/Replica"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Said by an answer to a write, and again by whoever wants to read it at a node with a replica. */
export const HEADER = "x-waybill-position"

/** Where the account's last write lies, and those that its caller knows of; nothing where all reads are the primary's. */
export const headers = (
  account_id: string | undefined,
  request: HttpServerRequest.HttpServerRequest,
): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.map(Replica, (replica) => headersBy(replica, account_id, request.headers[HEADER]))

export const headersBy = (
  { positionOf }: ReplicaShape,
  account_id: string | undefined,
  known: string | undefined,
): Readonly<Record<string, string>> => {
  const position = account_id === undefined ? undefined : positionOf(account_id, known)
  return position === undefined ? {} : { [HEADER]: position }
}

/** Runs a read of the log where its caller sees what he has written. */
export const read = <A, E, R>(
  account_id: string,
  request: HttpServerRequest.HttpServerRequest,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Replica, (replica) => replica.read(account_id, request.headers[HEADER], effect))
