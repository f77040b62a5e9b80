import crypto, { type BinaryLike, type KeyObject, type ScryptOptions } from "node:crypto"
import { syncBuiltinESMExports } from "node:module"

/**
 * Number of RSA keys that a process generates; it then returns them again in turn. The search for the primes of a key takes
 * 0.16 s of processor time, and hundreds of tests add domains. Enough that the keys of a test differ.
 */
const RSA_KEYS = 8

type PairDone = (error: Error | null, publicKey: KeyObject, privateKey: KeyObject) => void
type GeneratePair = (type: string, options: object, done: PairDone) => void

const generatePair = crypto.generateKeyPair as GeneratePair
/** Keys by how they were asked for. */
const pools = new Map<string, { readonly pairs: Array<Parameters<PairDone>>; turn: number }>()

const reusePair: GeneratePair = (type, options, done) => {
  if (type !== "rsa") return generatePair(type, options, done)
  const asked = JSON.stringify(options)
  const pool = pools.get(asked) ?? { pairs: [], turn: 0 }
  pools.set(asked, pool)
  const pair = pool.pairs[pool.turn++ % RSA_KEYS]
  if (pair !== undefined) return setImmediate(() => done(...pair))
  generatePair(type, options, (...made) => {
    pool.pairs.push(made)
    done(...made)
  })
}

type HashDone = (error: Error | null, key: Buffer) => void
type Scrypt = (password: BinaryLike, salt: BinaryLike, bytes: number, cost: ScryptOptions, done: HashDone) => void

const { scrypt } = crypto as { readonly scrypt: Scrypt }
const hashes = new Map<string, Buffer>()

/** Hashes the same password with the same salt and cost once: 0.1 s of processor time, and the result is the same. */
const rememberHash: Scrypt = (password, salt, bytes, cost, done) => {
  const input = JSON.stringify([password, salt, bytes, cost])
  const known = hashes.get(input)
  if (known !== undefined) return setImmediate(() => done(null, Buffer.from(known)))
  scrypt(password, salt, bytes, cost, (error, key) => {
    if (error === null) hashes.set(input, Buffer.from(key))
    done(error, key)
  })
}

/**
 * Replaces the functions of Node that are slow on purpose by these, in this process and in all of its modules. Services that
 * tests start as processes of their own compute everything.
 */
export const reuseSlowCrypto = (): void => {
  crypto.generateKeyPair = reusePair as typeof crypto.generateKeyPair
  crypto.scrypt = rememberHash as typeof crypto.scrypt
  syncBuiltinESMExports()
}
