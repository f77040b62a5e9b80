import { valueOr } from "@waybill/runtime/flow/valueOr"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import { Effect } from "effect"
import { type KeyObject, X509Certificate } from "node:crypto"
import * as AmazonFetch from "./AmazonFetch.ts"
import * as AmazonHost from "./AmazonHost.ts"

/** Certificates whose keys are remembered. Amazon changes them about once a year in each region. */
const MAX_CERTIFICATES = 50
/** Certificates of a file that are read. */
const MAX_IN_FILE = 10
/** Authorities between a certificate and a root. Amazon has one. */
const MAX_ISSUERS = 3
const MIN_RSA_BITS = 2_048

const WRONG = "certificate_wrong"

interface Known {
  readonly key: KeyObject
  readonly until: number
}

const keys = new LruCache<string, Known>({ maxEntries: MAX_CERTIFICATES })

/** Returns the key of the certificate at a URL, if it is Amazon's. Fails with the reason of a refusal. */
export const keyAt = Effect.fn("SigningCertificate.keyAt")(function* (text: string, now: number) {
  const known = keys.get(text)
  if (known !== undefined && now <= known.until) return known.key
  const url = AmazonHost.parse(text)
  if (url === undefined || url.search !== "" || !url.pathname.endsWith(".pem"))
    return yield* Effect.fail("host_not_allowed")
  const [leaf, ...others] = certificatesIn(yield* AmazonFetch.get(text))
  if (leaf === undefined || leaf.ca || !isNamed(leaf, AmazonHost.namesOf(url.hostname)) || !isStrongRsa(leaf.publicKey))
    return yield* Effect.fail(WRONG)
  const { roots } = yield* AmazonFetch.AmazonServers
  const until = yield* endOfChain(leaf, others, roots(), now)
  keys.set(text, { key: leaf.publicKey, until })
  return leaf.publicKey
})

/**
 * Follows the issuers of a certificate to a root of Amazon and returns the time until which all of them are valid. Amazon
 * serves the certificate without its issuer, which is then read from the address that the certificate names.
 */
const endOfChain = Effect.fnUntraced(function* (
  leaf: X509Certificate,
  given: ReadonlyArray<X509Certificate>,
  roots: ReadonlyArray<X509Certificate>,
  now: number,
) {
  let last = leaf
  let until = yield* endOf(leaf, now)
  for (let issuers = 0; ; issuers++) {
    const current = last
    const root = roots.find((each) => isIssuedBy(current, each))
    if (root !== undefined) return Math.min(until, yield* endOf(root, now))
    if (issuers === MAX_ISSUERS) return yield* Effect.fail(WRONG)
    const issuer = given.find((each) => isIssuedBy(current, each)) ?? (yield* issuerOf(current))
    if (!issuer.ca || !isIssuedBy(current, issuer)) return yield* Effect.fail(WRONG)
    until = Math.min(until, yield* endOf(issuer, now))
    last = issuer
  }
})

const issuerOf = Effect.fnUntraced(function* (certificate: X509Certificate) {
  const [, url = ""] = /^CA Issuers - URI:(\S+)$/mu.exec(certificate.infoAccess ?? "") ?? []
  const bytes = yield* AmazonFetch.getIssuer(url)
  return yield* Effect.try({ try: () => new X509Certificate(bytes), catch: () => WRONG })
})

/** Returns the end of a certificate's validity, and fails if it is not valid now. */
const endOf = ({ validFrom, validTo }: X509Certificate, now: number): Effect.Effect<number, string> => {
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  return now >= from && now <= to ? Effect.succeed(to) : Effect.fail(WRONG)
}

const certificatesIn = (pem: string): ReadonlyArray<X509Certificate> => {
  const texts = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? []
  return valueOr(() => texts.slice(0, MAX_IN_FILE).map((text) => new X509Certificate(text)), [])
}

/** Names count only as alternative names and in full: a certificate for `*.amazonaws.com` is one of another service. */
const isNamed = (certificate: X509Certificate, names: ReadonlyArray<string>): boolean =>
  names.some((name) => certificate.checkHost(name, { subject: "never", wildcards: false }) !== undefined)

const isStrongRsa = (key: KeyObject): boolean =>
  key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS

/** Amazon's authorities have strong RSA keys, or keys of elliptic curves. */
const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean => {
  const key = issuer.publicKey
  return (
    (key.asymmetricKeyType === "ec" || isStrongRsa(key)) && certificate.checkIssued(issuer) && certificate.verify(key)
  )
}
