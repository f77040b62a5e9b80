import * as MtaSts from "@waybill/mail/dns/MtaSts"
import { Effect, Layer } from "effect"

/** Domains with an MTA-STS policy in force, without DNS or a policy host. */
export const mtaStsPolicies = (policies: Readonly<Record<string, MtaSts.Policy>> = {}): Layer.Layer<MtaSts.MtaSts> =>
  Layer.succeed(MtaSts.MtaSts, { enforced: (domain) => Effect.succeed(policies[domain]) })
