import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as StoreUnavailable from "@waybill/store/postgres/StoreUnavailable"
import { Context, Effect } from "effect"

/** A client that waits as it is told is still within the time limit of a test. */
const WAIT_SECONDS = 1

/** Answers of the service when it is busy, broken or without its database. */
const FAULTS = {
  429: new RateLimit.RequestRateExceeded({
    bucket: "send",
    limit: RateLimit.PER_MINUTE.send,
    retry_after_s: WAIT_SECONDS,
  }),
  500: new RequestRefusal.InternalError(),
  503: new StoreUnavailable.StoreUnavailable({ why: "away", retry_after_s: WAIT_SECONDS }),
} satisfies Record<number, Refusal>

export type Status = keyof typeof FAULTS
export const STATUSES = [429, 500, 503] as const satisfies ReadonlyArray<Status>

/** The answer that the next so many requests that send mail get. */
interface Faults {
  status: Status
  left: number
}

/** None except in an instance of a test suite, which sets them while it runs. */
export const InjectedFaults = Context.Reference<Faults>("@waybill/server/requests/InjectedFaults", {
  defaultValue: (): Faults => ({ status: 503, left: 0 }),
})

/** Takes the refusal of a request that sends mail, if it is to get one. */
export const take: Effect.Effect<Refusal | undefined> = Effect.map(InjectedFaults, (faults) => {
  if (faults.left === 0) return undefined
  faults.left--
  return FAULTS[faults.status]
})
