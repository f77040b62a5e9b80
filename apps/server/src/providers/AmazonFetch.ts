import type * as Network from "@waybill/mail/dns/Network"
import * as PinnedRequest from "@waybill/mail/dns/PinnedRequest"
import { Context, Duration, Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { rootCertificates } from "node:tls"
import * as AmazonHost from "./AmazonHost.ts"

/** Time for a certificate or the confirmation of a subscription. */
const FETCH_WITHIN = Duration.seconds(10)
/** Maximum bytes of an answer, with its head and TLS. */
export const FETCH_WIRE_BYTES = 256 * 1024

/** SHA-256 of the roots of Amazon Trust Services, https://www.amazontrust.com/repository. */
const AMAZON_ROOTS: ReadonlySet<string> = new Set([
  // Amazon Root CA 1 to 4.
  "8E:CD:E6:88:4F:3D:87:B1:12:5B:A3:1A:C3:FC:B1:3D:70:16:DE:7F:57:CC:90:4F:E1:CB:97:C6:AE:98:19:6E",
  "1B:A5:B2:AA:8C:65:40:1A:82:96:01:18:F8:0B:EC:4F:62:30:4D:83:CE:C4:71:3A:19:C3:9C:01:1E:A4:6D:B4",
  "18:CE:6C:FE:7B:F1:4E:60:B2:E3:47:B8:DF:E8:68:CB:31:D0:2E:BB:3A:DA:27:15:69:F5:03:43:B4:6D:B3:A4",
  "E3:5D:28:41:9E:D0:20:25:CF:A6:90:38:CD:62:39:62:45:8D:A5:C6:95:FB:DE:A3:C2:2B:0B:FB:25:89:70:92",
  // Starfield Services Root Certificate Authority - G2.
  "56:8D:69:05:A2:C8:87:08:A4:B3:02:51:90:ED:CF:ED:B1:97:4A:60:6A:13:C6:E5:29:0F:CB:2A:E6:3E:DA:B5",
])

export interface Servers {
  /** Roots that certificates of Amazon SNS must end at. */
  readonly roots: () => ReadonlyArray<X509Certificate>
  /** Networks, ports and authorities of the servers that tests run in the place of Amazon's. */
  readonly allowed?: Network.Networks
  readonly httpsPort?: number
  readonly httpPort?: number
  readonly ca?: ReadonlyArray<string>
}

let roots: ReadonlyArray<X509Certificate> | undefined

const amazonRoots = (): ReadonlyArray<X509Certificate> =>
  (roots ??= rootCertificates
    .map((text) => new X509Certificate(text))
    .filter(({ fingerprint256 }) => AMAZON_ROOTS.has(fingerprint256)))

/** The servers of Amazon, from which certificates are read and at which subscriptions are confirmed. */
export const AmazonServers = Context.Reference<Servers>("@waybill/server/providers/AmazonFetch/AmazonServers", {
  defaultValue: () => ({ roots: amazonRoots }),
})

/** Gets a text from Amazon SNS, at an address that was checked and pinned. Fails with the reason of a refusal. */
export const get = Effect.fn("AmazonFetch.get")(function* (text: string) {
  const url = AmazonHost.parse(text)
  if (url === undefined) return yield* Effect.fail("host_not_allowed")
  return (yield* fetched(url)).toString("utf8")
})

/**
 * Gets the certificate of an authority of Amazon. The call is not encrypted, as is usual for these (RFC 5280, section
 * 4.2.2.1); the signatures of the certificates prove them.
 */
export const getIssuer = Effect.fn("AmazonFetch.getIssuer")(function* (text: string) {
  const url = AmazonHost.parseIssuer(text)
  if (url === undefined) return yield* Effect.fail("certificate_wrong")
  return yield* fetched(url)
})

const fetched = Effect.fnUntraced(function* (url: URL) {
  const { allowed, ca, httpPort = 80, httpsPort = 443 } = yield* AmazonServers
  const at = new URL(url)
  at.port = String(url.protocol === "http:" ? httpPort : httpsPort)
  const { body, status } = yield* Effect.mapError(
    PinnedRequest.send(at.href, {
      ...(allowed === undefined ? {} : { allowed }),
      ...(ca === undefined ? {} : { ca: [...ca] }),
      timeout: FETCH_WITHIN,
      max_bytes: FETCH_WIRE_BYTES,
    }),
    () => "host_unreachable",
  )
  return status === 200 ? body : yield* Effect.fail("host_unreachable")
})
