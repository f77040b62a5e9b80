import { Duration, Effect, Layer } from "effect"
import * as Dns from "./Dns.ts"
import * as MtaSts from "./MtaSts.ts"
import * as PinnedRequest from "./PinnedRequest.ts"

/** RFC 8461 §3.3 suggests a minute; mail waits meanwhile, and a later attempt fetches again. */
const FETCH_WITHIN = Duration.seconds(15)
/** Maximum bytes that a policy host may send: the policy, its head, the chunks' framing and the certificates. */
export const FETCH_WIRE_BYTES = 256 * 1024

export interface Options extends Pick<PinnedRequest.Options, "allowed" | "ca"> {
  /** Port of the policy host; tests run theirs with a certificate of their own. */
  readonly port?: number
}

/** Fetches from an address that was checked and pinned, since the domain's owner names the host. */
export const make = ({ port = 443, ...options }: Options = {}): Effect.Effect<MtaSts.Fetch, never, Dns.Dns> =>
  Effect.map(
    Dns.Dns,
    (dns): MtaSts.Fetch =>
      (domain) =>
        PinnedRequest.send(`https://mta-sts.${domain}:${port}/.well-known/mta-sts.txt`, {
          ...options,
          timeout: FETCH_WITHIN,
          max_bytes: FETCH_WIRE_BYTES,
          max_body_bytes: MtaSts.POLICY_BYTES,
        }).pipe(
          Effect.provideService(Dns.Dns, dns),
          Effect.mapError(({ message }) => message),
          Effect.flatMap(policyOf),
          Effect.mapError((reason) => new MtaSts.FetchFailed({ reason })),
        ),
  )

export const layer = (storage: MtaSts.PolicyStorage): Layer.Layer<MtaSts.MtaSts, never, Dns.Dns> =>
  Layer.unwrap(Effect.map(make(), (fetch) => MtaSts.MtaSts.layer(fetch, storage)))

const policyOf = ({ body, status, type }: PinnedRequest.Answer): Effect.Effect<string, string> => {
  // A redirect is a failure: it would lead past the certificate that authenticates the domain (§3.3).
  if (status !== 200) return Effect.fail(`status ${status}`)
  return type.toLowerCase() === "text/plain" ? Effect.succeed(body.toString("utf8")) : Effect.fail("not text/plain")
}
