import { Dns } from "@waybill/mail/dns/Dns"
import * as MtaSts from "@waybill/mail/dns/MtaSts"
import * as MtaStsPolicies from "@waybill/store/outbox/MtaStsPolicies"
import { Cause, Effect } from "effect"

/** Policy hosts that are asked at once. */
export const MAX_FETCHES = 20

/**
 * Asks domains for their MTA-STS policies long before those end: else it would do to suppress an answer at that moment
 * (RFC 8461 §10.2).
 */
export const refreshPolicies = Effect.fn("refreshPolicies")(function* (fetch: MtaSts.Fetch) {
  const dns = yield* Dns
  const keep = yield* MtaStsPolicies.keeper
  const renew = ({ domain, expires_at, mode }: MtaStsPolicies.Due) =>
    Effect.matchEffect(MtaSts.ask(dns, fetch, domain), {
      onSuccess: (fresh) => keep.put(domain, fresh),
      onFailure: ({ reason }) =>
        mode === "none"
          ? Effect.void
          : Effect.logWarning("an MTA-STS policy could not be renewed", { domain, reason, expires_at }),
    }).pipe(
      // Whatever one domain does, the others are renewed: they would wait for hours, and their policies may end.
      Effect.catchDefect((defect) =>
        Effect.logWarning("an MTA-STS policy could not be renewed", { domain, expires_at }, Cause.die(defect)),
      ),
    )
  yield* Effect.forEach(yield* MtaStsPolicies.due(), renew, { concurrency: MAX_FETCHES, discard: true })
  yield* MtaStsPolicies.sweep()
})
