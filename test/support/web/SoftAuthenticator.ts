import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"

/** Fields that an attacker may forge in the response of an authenticator or browser. */
export interface ForgedFields {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly userPresent?: boolean
  readonly userVerified?: boolean
  readonly counter?: number
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url")
const sha256 = (bytes: Uint8Array | string): Buffer => createHash("sha256").update(bytes).digest()

/** CBOR (RFC 8949), the part that an attestation without a statement needs. */
const head = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.of((major << 5) | value)
  if (value < 256) return Buffer.of((major << 5) | 24, value)
  return Buffer.of((major << 5) | 25, value >> 8, value & 255)
}
const integer = (value: number): Buffer => (value < 0 ? head(1, -1 - value) : head(0, value))
const bytes = (value: Uint8Array): Buffer => Buffer.concat([head(2, value.length), value])
const text = (value: string): Buffer => Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
const map = (...pairs: ReadonlyArray<readonly [Buffer, Buffer]>): Buffer =>
  Buffer.concat([head(5, pairs.length), ...pairs.flat()])

const [PRESENT, VERIFIED, ATTESTED] = [1, 4, 64]
/** COSE (RFC 9053) constants of an Ed25519 key that signs with EdDSA. */
const [OKP, ED25519, EDDSA] = [1, 6, -8]

/** Software passkey (WebAuthn level 2, Ed25519), which can be made to forge fields. */
export const make = (origin: string, rpId: string, credentialId: Uint8Array = randomBytes(32)) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const { x = "" } = publicKey.export({ format: "jwk" })
  const id = base64url(credentialId)
  let signed = 0

  const cose = map(
    [integer(1), integer(OKP)],
    [integer(3), integer(EDDSA)],
    [integer(-1), integer(ED25519)],
    [integer(-2), bytes(Buffer.from(x, "base64url"))],
  )

  const clientData = (type: string, challenge: string, lies: ForgedFields): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: false,
      }),
    )

  const authenticatorData = (lies: ForgedFields, counter: number, attested: ReadonlyArray<Uint8Array> = []): Buffer => {
    const flags =
      (lies.userPresent === false ? 0 : PRESENT) |
      (lies.userVerified === false ? 0 : VERIFIED) |
      (attested.length === 0 ? 0 : ATTESTED)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(lies.rpId ?? rpId), Buffer.of(flags), count, ...attested])
  }

  const credential = { id, rawId: id, type: "public-key", clientExtensionResults: {} }

  return {
    id,
    register: ({ challenge }: { readonly challenge: string }, lies: ForgedFields = {}) => {
      const length = Buffer.of(credentialId.length >> 8, credentialId.length & 255)
      const authData = authenticatorData(lies, lies.counter ?? 0, [Buffer.alloc(16), length, credentialId, cose])
      const attestation = map(
        [text("fmt"), text("none")],
        [text("attStmt"), map()],
        [text("authData"), bytes(authData)],
      )
      return {
        ...credential,
        response: {
          clientDataJSON: base64url(clientData("webauthn.create", challenge, lies)),
          attestationObject: base64url(attestation),
          transports: ["internal"],
        },
      }
    },
    authenticate: ({ challenge }: { readonly challenge: string }, lies: ForgedFields = {}) => {
      signed = lies.counter ?? signed + 1
      const data = clientData("webauthn.get", challenge, lies)
      const authData = authenticatorData(lies, signed)
      return {
        ...credential,
        response: {
          clientDataJSON: base64url(data),
          authenticatorData: base64url(authData),
          signature: base64url(sign(null, Buffer.concat([authData, sha256(data)]), privateKey)),
        },
      }
    },
  }
}
