import { createHash, createSign, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto"

/** Writes certificates for tests, because Node reads them only. */

const DAY_MS = 86_400_000

interface Keys {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export interface Authority extends Keys {
  readonly name: string
  readonly certificate: X509Certificate
}

export interface Wanted {
  readonly name: string
  readonly issuer?: Authority
  readonly keys?: Keys
  readonly isAuthority?: boolean
  readonly names?: ReadonlyArray<string>
  /** Address of the issuer's certificate. */
  readonly issuerUrl?: string
  readonly from?: number
  readonly to?: number
}

export const rsa = (modulusLength = 2_048): Keys => generateKeyPairSync("rsa", { modulusLength })

export const issue = (wanted: Wanted): Authority => {
  const { from = Date.now() - DAY_MS, isAuthority = false, issuerUrl, keys = rsa(), name, names = [] } = wanted
  const { issuer, to = Date.now() + 365 * DAY_MS } = wanted
  const signer = issuer ?? { ...keys, name }
  const extensions = [
    extension("551d0e", octets(keyId(keys.publicKey))),
    extension("551d23", sequence(tagged(0x80, keyId(signer.publicKey)))),
    extension("551d13", isAuthority ? sequence(BOOLEAN_TRUE) : sequence(), true),
    extension("551d0f", isAuthority ? Buffer.from("03020106", "hex") : Buffer.from("030205a0", "hex"), true),
    ...(names.length === 0
      ? []
      : [extension("551d11", sequence(...names.map((each) => tagged(0x82, Buffer.from(each)))))]),
    ...(issuerUrl === undefined
      ? []
      : [
          extension(
            "2b06010505070101",
            sequence(sequence(oid("2b06010505073002"), tagged(0x86, Buffer.from(issuerUrl)))),
          ),
        ]),
  ]
  const content = sequence(
    tagged(0xa0, Buffer.from("020102", "hex")),
    tagged(
      0x02,
      Buffer.concat([Buffer.from([1]), createHash("sha256").update(`${name}${from}${to}`).digest().subarray(0, 8)]),
    ),
    SHA256_WITH_RSA,
    nameOf(signer.name),
    sequence(time(from), time(to)),
    nameOf(name),
    keys.publicKey.export({ format: "der", type: "spki" }),
    tagged(0xa3, sequence(...extensions)),
  )
  const signature = createSign("sha256").update(content).sign(signer.privateKey)
  const der = sequence(content, SHA256_WITH_RSA, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])))
  return { ...keys, name, certificate: new X509Certificate(der) }
}

const tagged = (tag: number, content: Uint8Array): Buffer => {
  const { length } = content
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => tagged(0x30, Buffer.concat(parts))
const octets = (content: Uint8Array) => tagged(0x04, content)
const oid = (hex: string) => tagged(0x06, Buffer.from(hex, "hex"))
const BOOLEAN_TRUE = Buffer.from("0101ff", "hex")
const SHA256_WITH_RSA = sequence(oid("2a864886f70d01010b"), Buffer.from("0500", "hex"))
const extension = (id: string, content: Uint8Array, isCritical = false) =>
  sequence(oid(id), ...(isCritical ? [BOOLEAN_TRUE] : []), octets(content))
const nameOf = (text: string) => sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(text)))))
const keyId = (key: KeyObject) =>
  createHash("sha1")
    .update(key.export({ format: "der", type: "spki" }))
    .digest()
const time = (at: number) =>
  tagged(0x18, Buffer.from(`${new Date(at).toISOString().slice(0, 19).replaceAll(/[-T:]/gu, "")}Z`))
