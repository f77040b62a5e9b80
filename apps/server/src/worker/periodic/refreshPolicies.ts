import { Dns } from "@waybill/mail/dns/Dns"
import * as MtaSts from "@waybill/mail/dns/MtaSts"
import * as MtaStsPolicies from "@waybill/store/sources/MtaStsPolicies"
import { Cause, Effect } from "effect"

/** Maximum number of policies that are fetched at once. */
export const MAX_FETCHES = 20

const NOT_RENEWED = "mta-sts policy could not be renewed; it will be retried"

/**
 * Renews MTA-STS policies long before they expire, so that an attacker cannot end a policy by blocking one request
 * (RFC 8461 §10.2).
 */
export const refreshPolicies = Effect.fn("refreshPolicies")(function* (fetch: MtaSts.Fetch) {
  const dns = yield* Dns
  const policies = yield* MtaStsPolicies.policyStore
  const renew = ({ domain, expires_at, mode }: MtaStsPolicies.Due) =>
    Effect.matchEffect(MtaSts.fetchCurrent(dns, fetch, domain), {
      onSuccess: (policy) => policies.put(domain, policy),
      onFailure: ({ reason }) =>
        mode === "none" ? Effect.void : Effect.logWarning(NOT_RENEWED, { domain, reason, expires_at }),
    }).pipe(
      // A failure of one domain must not delay the others for hours, when their policies may have expired.
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.logWarning(NOT_RENEWED, { domain, expires_at }, cause),
      ),
    )
  yield* Effect.forEach(yield* MtaStsPolicies.due(), renew, { concurrency: MAX_FETCHES, discard: true })
  yield* MtaStsPolicies.sweep()
})
