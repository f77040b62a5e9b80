import * as MtaSts from "../dns/MtaSts.ts"
import { ConnectFailed } from "../smtp/SmtpConnection.ts"
import type { ServerRule } from "../dane/Dane.ts"
import type * as DanePeer from "../dane/DanePeer.ts"

/** Conditions under which mail of a domain goes to a server. */
export interface ServerPolicy {
  /** The domain's enforced MTA-STS policy, where DANE does not decide instead. */
  readonly policy?: MtaSts.Policy
  /** `encrypted`: with any certificate, because no record can be used. `unknown`: nothing goes there. */
  readonly dane?: DanePeer.DanePeer | "encrypted" | { readonly unknown: string }
}

interface Sources {
  readonly domain: string
  readonly policy: MtaSts.Policy | undefined
  readonly rules: ReadonlyMap<string, ServerRule>
  readonly anchors: DanePeer.Anchors
}

/**
 * DANE comes before MTA-STS (RFC 8461 §2): records that can be used decide alone. Without any, the certificate is that
 * of the policy, if there is one.
 */
export const policyOf =
  ({ anchors, domain, policy, rules }: Sources) =>
  (host: string): ServerPolicy => {
    const mtaSts = policy === undefined ? {} : { policy }
    const rule = rules.get(host)
    switch (rule?._tag) {
      case "Matched": {
        const { base, records } = rule
        return { dane: { records, base, names: [...new Set([base, host, domain])], anchors: anchors.of(host) } }
      }
      case "Unknown":
        return { dane: { unknown: rule.reason } }
      case "Encrypted":
        return { ...mtaSts, dane: "encrypted" }
      default:
        return mtaSts
    }
  }

/** Returns why a server gets no mail, whatever it answers. */
export const refusalOf = (
  host: string,
  { dane, policy }: ServerPolicy,
): { readonly kind: "dane" | "tls"; readonly detail: string } | undefined => {
  if (typeof dane === "object" && "unknown" in dane) return { kind: "dane", detail: dane.unknown }
  return policy !== undefined && !MtaSts.matches(policy, host)
    ? { kind: "tls", detail: "the domain's MTA-STS policy does not list this server" }
    : undefined
}

/** Names DANE as the reason of a failed STARTTLS that it required. */
export const asDane = (failure: ConnectFailed): ConnectFailed =>
  failure.stage === "starttls" && failure.kind === "tls"
    ? new ConnectFailed({ ...failure, kind: "dane", detail: `TLS is required by TLSA records: ${failure.detail}` })
    : failure
