import { LruCache } from "@waybill/runtime/collections/LruCache"
import { X509Certificate } from "node:crypto"
import * as tls from "node:tls"
import type { Tlsa } from "./DnsMessage.ts"
import * as TlsaRecord from "./TlsaRecord.ts"

/** Servers whose trust anchors a process remembers, and anchors of each. */
export const MAX_SERVERS = 10_000
export const MAX_ANCHORS = 4
/** Certificates of a server's chain that are looked at. */
const MAX_CHAIN = 10

/** Certificate that a server must have. */
export interface DanePeer {
  readonly records: ReadonlyArray<Tlsa>
  /** Name in TLS (SNI). */
  readonly base: string
  /** Names of which the certificate has one, if a trust anchor issued it (RFC 7672 §3.2.2). */
  readonly names: ReadonlyArray<string>
  /** Anchors that were seen, which grow when the server sends another one that the records name. */
  readonly anchors: Array<Buffer>
}

/** Anchors by server. A digest in a record does not hold the anchor, so it is known once a server has sent it. */
export class Anchors {
  readonly #seen = new LruCache<string, Array<Buffer>>({ maxEntries: MAX_SERVERS })

  of(host: string): Array<Buffer> {
    const anchors = this.#seen.get(host) ?? []
    this.#seen.set(host, anchors)
    return anchors
  }
}

/** Why a server is not the one that the records name. */
export interface Problem {
  readonly detail: string
  /** The server has sent an anchor that was not known before: another connection can be validated with it. */
  readonly hasNewAnchor: boolean
}

/**
 * Returns the TLS options for such a server, and what decides about it once it is connected. OpenSSL validates the path
 * to the anchors of the records alone, with dates and constraints. A certificate that the records name itself needs no
 * path.
 */
export const checkOf = ({ anchors, base, names, records }: DanePeer) => {
  const given = [
    ...TlsaRecord.wholeAnchors(records),
    ...anchors.filter((anchor) => TlsaRecord.isAnchor(records, anchor)),
  ]
  const options: tls.ConnectionOptions = {
    servername: base,
    rejectUnauthorized: false,
    allowPartialTrustChain: true,
    ca: given.map((der) => new X509Certificate(der).toString()),
    checkServerIdentity: (_, certificate) => {
      const refusals = names.map((name) => tls.checkServerIdentity(name, certificate))
      return refusals.includes(undefined) ? undefined : refusals[0]
    },
  }
  const problemOf = (socket: tls.TLSSocket): Problem | undefined => {
    const [leaf, ...issuers] = chainOf(socket)
    if (leaf === undefined) return { detail: "the server sent no certificate", hasNewAnchor: false }
    // Neither names nor dates count: the zone vouches for this very certificate (RFC 7672 §3.1.1).
    if (TlsaRecord.isEndEntity(records, leaf) || (given.length > 0 && socket.authorized)) return undefined
    const found = issuers.filter((each) => TlsaRecord.isAnchor(records, each))
    if (found.length === 0) return { detail: "the certificate does not match the TLSA records", hasNewAnchor: false }
    anchors.push(...found.filter((each) => !anchors.some((anchor) => anchor.equals(each))))
    anchors.splice(0, anchors.length - MAX_ANCHORS)
    return {
      detail: `the TLSA records name the issuer, but the certificate is not valid: ${String(socket.authorizationError)}`,
      hasNewAnchor: found.some((each) => !given.some((anchor) => anchor.equals(each))),
    }
  }
  return { options, problemOf }
}

/** Certificates (DER) that the server sent, its own first. */
const chainOf = (socket: tls.TLSSocket): ReadonlyArray<Buffer> => {
  const chain: Array<Buffer> = []
  let next: tls.DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  // A certificate that issued itself is its own issuer.
  while (
    next?.raw !== undefined &&
    chain.length < MAX_CHAIN &&
    !chain.some((seen) => next?.raw.equals(seen) === true)
  ) {
    chain.push(next.raw)
    next = next.issuerCertificate
  }
  return chain
}
