import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Cursors } from "@waybill/store/feed/Cursors"
import { Effect } from "effect"

const BEGINNING = "0"

/** Returns the position of a cursor that a client sent in the named field. */
export const read = (
  account_id: string,
  field: string,
  text: string,
): Effect.Effect<bigint, RequestRefusal.InvalidRequest, Cursors> =>
  Effect.flatMap(Cursors, (cursors) => {
    const position = text === BEGINNING ? 0n : cursors.read(account_id, text)
    return position === undefined || position > MAX_POSITION
      ? Effect.fail(
          new RequestRefusal.InvalidRequest({
            reason: "validation_failed",
            details: [{ path: field, message: INVALID }],
          }),
        )
      : Effect.succeed(position)
  })

/** Maximum of a Postgres bigint. */
const MAX_POSITION = 2n ** 63n - 1n

const INVALID =
  "is not a position of this account: use one from a response to this account, or 0 for the beginning. Positions from before an instance key was removed are no longer valid"
