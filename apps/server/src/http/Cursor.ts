import { InvalidRequest } from "@waybill/api/errors/RequestRefusal"
import { Cursors } from "@waybill/store/feed/Cursors"
import { Effect } from "effect"

const BEGINNING = "0"

/** The position behind what a client gave back in the named field. */
export const read = (account_id: string, field: string, text: string): Effect.Effect<bigint, InvalidRequest, Cursors> =>
  Effect.flatMap(Cursors, (cursors) => {
    const position = text === BEGINNING ? 0n : cursors.read(account_id, text)
    return position === undefined || position > MAX_POSITION
      ? Effect.fail(new InvalidRequest({ reason: "validation_failed", details: [{ path: field, message: UNKNOWN }] }))
      : Effect.succeed(position)
  })

/** A bigint of Postgres. */
const MAX_POSITION = 2n ** 63n - 1n

const UNKNOWN =
  "is no position of this account: take one that an answer gave to it, or 0 for the beginning. Positions from before an instance key was removed are not known any more"
