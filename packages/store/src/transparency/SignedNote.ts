import { parseNote } from "@waybill/verify/SignedNote"
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign as signBytes } from "node:crypto"

/** Writes signed notes (c2sp.org/signed-note) by Ed25519. `@waybill/verify` reads and verifies them. */

const ED25519 = Uint8Array.of(1)
const ID_BYTES = 4
// The fixed beginnings of a key of Ed25519 in DER (RFC 8410).
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex")
const PUBLIC_DER = Buffer.from("302a300506032b6570032100", "hex")

export interface VerifierKey {
  readonly name: string
  /** The 32 bytes of the public key. */
  readonly key: Uint8Array
}

export interface Signer extends VerifierKey {
  readonly privateKey: KeyObject
}

/** Makes a key from its secret of 32 bytes. */
export const signer = (name: string, secret: Uint8Array): Signer => {
  const privateKey = createPrivateKey({ key: Buffer.concat([PRIVATE_DER, secret]), format: "der", type: "pkcs8" })
  const key = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(PUBLIC_DER.length)
  return { name, key, privateKey }
}

/** Identifies a key, together with its name. */
export const idOf = ({ key, name }: VerifierKey): Uint8Array =>
  hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), ED25519, key]), "buffer").subarray(0, ID_BYTES)

/** Writes the type and the bytes of a key in base64, the last part of `vkeyOf`. */
export const publicPart = (key: Uint8Array): string => Buffer.concat([ED25519, key]).toString("base64")

const labelOf = (key: VerifierKey): string => `${key.name}+${Buffer.from(idOf(key)).toString("hex")}`

/** Writes a key as `name+id+base64`. */
export const vkeyOf = (key: VerifierKey): string => `${labelOf(key)}+${publicPart(key.key)}`

/** Returns whose lines a note of this service has, of these keys. Their signatures are not verified. */
export const signersOf = (note: string, keys: ReadonlyArray<VerifierKey>): ReadonlyArray<VerifierKey> => {
  const labels = new Set(parseNote(note).signatures.map(({ id, name }) => `${name}+${id}`))
  return keys.filter((key) => labels.has(labelOf(key)))
}

const lineOf = (text: string, signer: Signer): string => {
  const signature = signBytes(null, Buffer.from(text), signer.privateKey)
  return `\u2014 ${signer.name} ${Buffer.concat([idOf(signer), signature]).toString("base64")}\n`
}

/** Signs a text, which ends in a newline, with each of the keys. */
export const sign = (text: string, signers: ReadonlyArray<Signer>): string =>
  `${text}\n${signers.map((signer) => lineOf(text, signer)).join("")}`
