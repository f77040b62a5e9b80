import { concat, sha256, toBase64, toHex, utf8 } from "@waybill/verify/Bytes"
import { parseVkey, type Vkey } from "@waybill/verify/SignedNote"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { randomBytes, sign } from "node:crypto"
import * as fs from "node:fs/promises"

/** The key of a witness, which cosigns checkpoints (c2sp.org/tlog-cosignature, version 1, Ed25519). */
export interface Cosigner extends Vkey {
  /** The key in the form in which others configure it. */
  readonly text: string
  /** Returns the signature line of a checkpoint's text, with its newline. */
  readonly cosign: (text: string, seconds: number) => string
}

const COSIGNATURE = Uint8Array.of(4)
const SEED_BYTES = 32
const OTHERS = 0o077

export const make = async (name: string, seed: Uint8Array): Promise<Cosigner> => {
  const { key, privateKey } = SignedNote.signer(name, seed)
  const typed = concat(COSIGNATURE, Uint8Array.from(key))
  const id = (await sha256(concat(utf8(`${name}\n`), typed))).subarray(0, 4)
  const text = `${name}+${toHex(id)}+${toBase64(typed)}`
  return {
    ...(await parseVkey(text)),
    text,
    cosign: (body, seconds) => {
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`), privateKey)
      const time = new Uint8Array(8)
      new DataView(time.buffer).setBigUint64(0, BigInt(seconds))
      return `\u2014 ${name} ${toBase64(concat(id, time, Uint8Array.from(signature)))}\n`
    },
  }
}

/** Reads the key from a file that only its owner can read. A file that does not exist is made. */
export const fromFile = async (name: string, file: string): Promise<Cosigner> => {
  const text = await fs.readFile(file, "utf8").catch(async (cause: NodeJS.ErrnoException) => {
    if (cause.code !== "ENOENT") throw cause
    const made = `${randomBytes(SEED_BYTES).toString("base64")}\n`
    await fs.writeFile(file, made, { mode: 0o600, flag: "wx", flush: true })
    return made
  })
  if (((await fs.stat(file)).mode & OTHERS) !== 0)
    throw new Error(`${file} can be read by other users. Run: chmod 600 ${file}`)
  const seed = Buffer.from(text.trim(), "base64")
  if (seed.length !== SEED_BYTES) throw new Error(`${file} does not hold a key of ${SEED_BYTES} bytes in base64`)
  return make(name, seed)
}
