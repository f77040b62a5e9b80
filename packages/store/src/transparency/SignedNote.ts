import {
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from "node:crypto"

/** Signed notes (c2sp.org/signed-note) by Ed25519. */

const ED25519 = Uint8Array.of(1)
const KEY_BYTES = 32
const ID_BYTES = 4
const SIGNATURE_BYTES = 64
/** Maximum number of signatures that are read. */
const MAX_SIGNATURES = 64
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

export interface SignatureLine {
  readonly name: string
  readonly id: string
  readonly signature: Uint8Array
}

export interface Note {
  /** The text that is signed, with its last newline. */
  readonly text: string
  readonly signatures: ReadonlyArray<SignatureLine>
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

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** Writes the type and the bytes of a key in base64, the last part of `vkeyOf`. */
export const publicPart = (key: Uint8Array): string => Buffer.concat([ED25519, key]).toString("base64")

/** Writes a key as `name+id+base64`. */
export const vkeyOf = (key: VerifierKey): string => `${key.name}+${hex(idOf(key))}+${publicPart(key.key)}`

/** Reads a key; undefined if it is not one of Ed25519, or if its id is not that of its bytes. */
export const parseVkey = (text: string): VerifierKey | undefined => {
  const [, name = "", id = "", encoded = ""] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(text) ?? []
  const bytes = Buffer.from(encoded, "base64")
  const key = { name, key: bytes.subarray(ED25519.length) }
  const isValid = bytes.length === ED25519.length + KEY_BYTES && bytes[0] === ED25519[0] && hex(idOf(key)) === id
  return isValid ? key : undefined
}

const lineOf = (text: string, signer: Signer): string => {
  const signature = signBytes(null, Buffer.from(text), signer.privateKey)
  return `\u2014 ${signer.name} ${Buffer.concat([idOf(signer), signature]).toString("base64")}\n`
}

/** Signs a text, which ends in a newline, with each of the keys. */
export const sign = (text: string, signers: ReadonlyArray<Signer>): string =>
  `${text}\n${signers.map((signer) => lineOf(text, signer)).join("")}`

/** Reads a note without verifying it; undefined if it does not have the form of one. */
export const parse = (note: string): Note | undefined => {
  const end = note.lastIndexOf("\n\n")
  const lines = note.slice(end + 2).split("\n")
  if (end < 0 || lines.pop() !== "" || lines.length === 0 || lines.length > MAX_SIGNATURES) return undefined
  const signatures = lines.map((line) => {
    const [, name = "", encoded = ""] = /^\u2014 ([^ +]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? []
    const bytes = Buffer.from(encoded, "base64")
    return { name, id: hex(bytes.subarray(0, ID_BYTES)), signature: bytes.subarray(ID_BYTES) }
  })
  const isRead = signatures.every(({ name, signature }) => name !== "" && signature.length > 0)
  return isRead ? { text: note.slice(0, end + 1), signatures } : undefined
}

/**
 * Returns which of the keys have signed a note. None, if a signature that claims to be of one of them is not: then nothing in the
 * note is to be believed.
 */
export const signedBy = (note: Note, keys: ReadonlyArray<VerifierKey>): ReadonlyArray<VerifierKey> => {
  const signed: Array<VerifierKey> = []
  for (const key of keys) {
    const id = hex(idOf(key))
    const own = note.signatures.filter((line) => line.name === key.name && line.id === id)
    const publicKey = createPublicKey({ key: Buffer.concat([PUBLIC_DER, key.key]), format: "der", type: "spki" })
    for (const { signature } of own) {
      if (signature.length !== SIGNATURE_BYTES) return []
      if (!verifyBytes(null, Buffer.from(note.text), publicKey, signature)) return []
    }
    if (own.length > 0) signed.push(key)
  }
  return signed
}
