import { valueOr } from "@waybill/runtime/flow/valueOr"
import { createHash, X509Certificate } from "node:crypto"
import type { Tlsa } from "./DnsMessage.ts"

/** Usages that mail uses: the others would need a common set of authorities (RFC 7672 §3.1.3). */
export const TRUST_ANCHOR = 2
export const END_ENTITY = 3

const SELECTORS = { certificate: 0, publicKey: 1 } as const
/** Digests by matching type, weakest first; 0 is the whole certificate or key. */
const DIGESTS = { 1: "sha256", 2: "sha512" } as const
const DIGEST_BYTES = { 1: 32, 2: 64 } as const
const WHOLE = 0

/** Returns the records that a certificate can match. Others are as if they were not there (RFC 7672 §2.2). */
export const usable = (records: ReadonlyArray<Tlsa>): ReadonlyArray<Tlsa> => {
  const understood = records.filter(isUsable)
  // RFC 7671 §9: of the digests of one kind only the strongest counts.
  return understood.filter(
    ({ matching, selector, usage }) =>
      matching === WHOLE ||
      understood.every((other) => other.usage !== usage || other.selector !== selector || other.matching <= matching),
  )
}

const isUsable = ({ data, matching, selector, usage }: Tlsa): boolean => {
  if (usage !== TRUST_ANCHOR && usage !== END_ENTITY) return false
  if (selector !== SELECTORS.certificate && selector !== SELECTORS.publicKey) return false
  if (matching === 1 || matching === 2) return data.length === DIGEST_BYTES[matching]
  if (matching !== WHOLE || data.length === 0) return false
  return selector === SELECTORS.publicKey || certificateOf(data) !== undefined
}

const certificateOf = (der: Buffer): X509Certificate | undefined => valueOr(() => new X509Certificate(der), undefined)

/** Whether a certificate (DER) is the one that the record names. */
export const matches = ({ data, matching, selector }: Tlsa, certificate: Buffer): boolean => {
  const part = selector === SELECTORS.certificate ? certificate : publicKeyOf(certificate)
  if (part === undefined) return false
  return matching === 1 || matching === 2
    ? createHash(DIGESTS[matching]).update(part).digest().equals(data)
    : part.equals(data)
}

/** Returns the key of a certificate; none of a kind that this machine does not know. */
const publicKeyOf = (certificate: Buffer): Buffer | undefined =>
  valueOr(() => certificateOf(certificate)?.publicKey.export({ type: "spki", format: "der" }), undefined)

/** Certificates (DER) that the records hold whole; servers need not send these. */
export const wholeAnchors = (records: ReadonlyArray<Tlsa>): ReadonlyArray<Buffer> =>
  records.flatMap(({ data, matching, selector, usage }) =>
    usage === TRUST_ANCHOR && selector === SELECTORS.certificate && matching === WHOLE ? [data] : [],
  )

export const isAnchor = (records: ReadonlyArray<Tlsa>, certificate: Buffer): boolean =>
  records.some((record) => record.usage === TRUST_ANCHOR && matches(record, certificate))

export const isEndEntity = (records: ReadonlyArray<Tlsa>, certificate: Buffer): boolean =>
  records.some((record) => record.usage === END_ENTITY && matches(record, certificate))
