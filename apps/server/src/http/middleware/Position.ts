import { Replica } from "@waybill/store/feed/Replica"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Header that answers to writes carry, and that clients send with a read to see their writes on a replica. */
export const HEADER = "x-waybill-position"

/** Returns the position of the account's last write or of those the caller knows; empty without a replica. */
export const headers = (
  account_id: string | undefined,
  request: HttpServerRequest.HttpServerRequest,
): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.map(Replica, ({ positionOf }) => {
    const position = account_id === undefined ? undefined : positionOf(account_id, request.headers[HEADER])
    return position === undefined ? {} : { [HEADER]: position }
  })

/** Runs a read of the log on the replica if it has caught up with the caller's writes, otherwise on the primary. */
export const read = <A, E, R>(
  account_id: string,
  request: HttpServerRequest.HttpServerRequest,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Replica, (replica) => replica.read(account_id, request.headers[HEADER], effect))
