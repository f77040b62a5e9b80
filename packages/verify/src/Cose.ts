import { type Bytes, concat, utf8, verifyEd25519 } from "./Bytes.ts"
import { canonicalJson } from "./JsonValue.ts"
import { leafHash, rootOfProof } from "./MerkleProof.ts"
import { parseReceipt } from "./parseReceipt.ts"

/** A value of CBOR. A tag is a map of its number to its content. */
type Cbor = null | number | string | Bytes | ReadonlyArray<Cbor> | ReadonlyMap<Cbor, Cbor>

const MAX_DEPTH = 16
/** Labels of RFC 9052 and RFC 9942: tag, algorithm, receipts, kind of tree, proofs, proofs of inclusion. */
const [SIGN1, ALG, RECEIPTS, VDS, VDP, INCLUSION] = [18, 1, 394, 395, 396, -1]
const RFC9162_SHA256 = 1
/** EdDSA, and its newer name Ed25519 (RFC 9864). */
const ALGORITHMS: ReadonlyArray<Cbor | undefined> = [-8, -19]

/**
 * Verifies a receipt in COSE with a key of the log: the signature of its JSON, and a COSE Receipt (RFC 9942) for each event.
 * Throws what is wrong. Returns the JSON, for `verify` to check what COSE does not.
 */
export const verifyCose = async (statement: Bytes, key: Bytes): Promise<string> => {
  const [, unprotected, payload] = sign1(statement)
  await verifySign1(statement, bytes(payload), key)
  const json = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes(payload))
  const { events } = parseReceipt(json)
  const receipts = list(at(unprotected, RECEIPTS), events.length)
  for (const [nth, { entry }] of events.entries())
    await verifyCoseReceipt(bytes(receipts[nth]), await leafHash(utf8(canonicalJson(entry))), key)
  return json
}

/** Verifies a COSE Receipt of one leaf, given by its hash. Throws what is wrong. Returns the size of the tree. */
export const verifyCoseReceipt = async (receipt: Bytes, leaf: Bytes, key: Bytes): Promise<number> => {
  const [header, unprotected, payload] = sign1(receipt)
  if (at(decodeCbor(bytes(header)), VDS) !== RFC9162_SHA256) throw new Error("The tree is not one of RFC 9162.")
  if (payload !== null) throw new Error("The root in the receipt is not detached.")
  const [proof] = list(at(at(unprotected, VDP), INCLUSION), 1)
  const [size, index, path] = list(decodeCbor(bytes(proof)), 3)
  const root = await rootOfProof(leaf, Number(index), Number(size), list(path).map(bytes))
  if (root === undefined) throw new Error("The proof does not lead to a root.")
  await verifySign1(receipt, root, key)
  return Number(size)
}

const sign1 = (encoded: Bytes): ReadonlyArray<Cbor> => list(at(decodeCbor(encoded), SIGN1), 4)

const verifySign1 = async (object: Bytes, payload: Bytes, key: Bytes): Promise<void> => {
  const [header, , , signature] = sign1(object)
  if (!ALGORITHMS.includes(at(decodeCbor(bytes(header)), ALG))) throw new Error("It is not signed by Ed25519.")
  const parts = [bytes(header), new Uint8Array(), payload].map(byteString)
  const signed = concat(Uint8Array.of(0x84, 0x6a), utf8("Signature1"), ...parts)
  if (!(await verifyEd25519(key, bytes(signature), signed))) throw new Error("A signature is not valid.")
}

/** Writes a byte string in CBOR. */
const byteString = (content: Bytes): Bytes => {
  const { length } = content
  const sizes = [length >>> 24, length >>> 16, length >>> 8, length].map((size) => size & 255)
  const [info, width] = length < 24 ? [length, 0] : length < 2 ** 8 ? [24, 1] : length < 2 ** 16 ? [25, 2] : [26, 4]
  return concat(Uint8Array.of(0x40 + info, ...sizes.slice(4 - width)), content)
}

const at = (map: Cbor | undefined, label: number): Cbor | undefined => {
  if (!(map instanceof Map)) throw new Error("It is not of the form of RFC 9942.")
  return map.get(label)
}
const list = (value: Cbor | undefined, length?: number): ReadonlyArray<Cbor> => {
  if (!Array.isArray(value) || value.length !== (length ?? value.length))
    throw new Error("A list does not have the length that it must have.")
  return value
}
const bytes = (value: Cbor | undefined): Bytes => {
  if (!(value instanceof Uint8Array)) throw new Error("A part is not of bytes.")
  return value
}

/** Decodes the CBOR of receipts: items of known length, without floating-point numbers. */
const decodeCbor = (cbor: Bytes): Cbor => {
  let position = 0
  const take = (length: number): Bytes => {
    if (position + length > cbor.length) throw new Error("The CBOR ends early.")
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
    if (info > 27 || major === 7 || depth > MAX_DEPTH)
      throw new Error("The CBOR has an item that receipts do not have.")
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
  if (position !== cbor.length) throw new Error("Something follows the CBOR.")
  return decoded
}
