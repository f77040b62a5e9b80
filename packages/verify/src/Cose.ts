import { areEqual, type Bytes, concat, utf8, verifyEd25519 } from "./Bytes.ts"
import { rootOfProof } from "./Merkle.ts"

/** What CBOR holds. A tag is a map of its number to its content. */
type Cbor = null | number | string | Bytes | ReadonlyArray<Cbor> | ReadonlyMap<Cbor, Cbor>

const MAX_DEPTH = 16
/** Labels of RFC 9052 and RFC 9942: tag, algorithm, kind of tree, proofs, proofs of inclusion. */
const [SIGN1, ALG, VDS, VDP, INCLUSION] = [18, 1, 395, 396, -1]
const RFC9162_SHA256 = 1
/** EdDSA, and its newer name Ed25519 (RFC 9864). */
const ALGORITHMS: ReadonlyArray<Cbor | undefined> = [-8, -19]

/**
 * Verifies a COSE Receipt (RFC 9942) with a key: each of its proofs leads from the leaf in its place, given by its hash, to
 * the root that is signed. Throws what is wrong. Returns the size of the tree.
 */
export const verifyCose = async (receipt: Bytes, leaves: ReadonlyArray<Bytes>, key: Bytes): Promise<number> => {
  const [header, unprotected, payload, signature] = list(at(decodeCbor(receipt), SIGN1), 4)
  const signedHeader = decodeCbor(bytes(header))
  if (!ALGORITHMS.includes(at(signedHeader, ALG))) throw new Error("the receipt is not signed by Ed25519")
  if (at(signedHeader, VDS) !== RFC9162_SHA256) throw new Error("the receipt is not of a tree of RFC 9162")
  if (payload !== null) throw new Error("the payload of the receipt is not detached")
  const proofs = list(at(at(unprotected, VDP), INCLUSION), leaves.length).map((proof) =>
    list(decodeCbor(bytes(proof)), 3),
  )
  let root: Bytes | undefined
  for (const [nth, [size, index, path]] of proofs.entries()) {
    const own = await rootOfProof(bytes(leaves[nth]), Number(index), Number(size), list(path).map(bytes))
    if (own === undefined || size !== proofs[0]?.[0] || !areEqual(own, (root ??= own)))
      throw new Error("the proofs of the receipt do not lead to one root")
  }
  if (root === undefined) throw new Error("the receipt proves nothing")
  const signed = concat(
    Uint8Array.of(0x84, 0x6a),
    utf8("Signature1"),
    ...[bytes(header), new Uint8Array(), root].map(encoded),
  )
  if (!(await verifyEd25519(key, bytes(signature), signed)))
    throw new Error("the signature of the receipt is not valid")
  return Number(proofs[0]?.[0])
}

/** Writes a byte string of at most 65,535 bytes in CBOR. */
const encoded = (content: Bytes): Bytes => {
  const { length } = content
  const head = length < 24 ? [0x40 + length] : length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255]
  return concat(Uint8Array.from(head), content)
}

const at = (map: Cbor | undefined, label: number): Cbor | undefined => {
  if (!(map instanceof Map)) throw new Error("the receipt is not of the form of RFC 9942")
  return map.get(label)
}
const list = (value: Cbor | undefined, length?: number): ReadonlyArray<Cbor> => {
  if (!Array.isArray(value) || value.length !== (length ?? value.length))
    throw new Error("a list of the receipt is not whole")
  return value
}
const bytes = (value: Cbor | undefined): Bytes => {
  if (!(value instanceof Uint8Array)) throw new Error("a part of the receipt is not of bytes")
  return value
}

/** Decodes the CBOR of receipts: items of known length, without floating-point numbers. */
const decodeCbor = (cbor: Bytes): Cbor => {
  let position = 0
  const take = (length: number): Bytes => {
    if (position + length > cbor.length) throw new Error("the CBOR ends early")
    return cbor.slice(position, (position += length))
  }
  const items = (count: number, depth: number): Array<Cbor> => {
    const decoded: Array<Cbor> = []
    while (decoded.length < count) decoded.push(item(depth))
    return decoded
  }
  const item = (depth: number): Cbor => {
    const [first = 0] = take(1)
    if (first === 0xf6) return null
    const [major, info] = [first >> 5, first & 31]
    if (info > 27 || major === 7 || depth > MAX_DEPTH) throw new Error("the CBOR has an item that receipts do not have")
    const value = info < 24 ? info : take(2 ** (info - 24)).reduce((sum, byte) => sum * 256 + byte, 0)
    if (major === 0 || major === 1) return major === 0 ? value : -1 - value
    if (major === 2) return take(value)
    if (major === 3) return new TextDecoder("utf-8", { fatal: true }).decode(take(value))
    if (major === 4) return items(value, depth + 1)
    if (major === 6) return new Map([[value, item(depth + 1)]])
    const pairs = items(2 * value, depth + 1)
    return new Map(Array.from({ length: value }, (_, nth) => [pairs[2 * nth] ?? null, pairs[2 * nth + 1] ?? null]))
  }
  const decoded = item(0)
  if (position !== cbor.length) throw new Error("something follows the CBOR")
  return decoded
}
