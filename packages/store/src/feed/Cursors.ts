import * as Id from "@waybill/domain/values/Id"
import { Context, Effect, Layer } from "effect"
import { createCipheriv, createDecipheriv, createHash, randomInt } from "node:crypto"
import { InstanceKey } from "../secrets/InstanceKey.ts"

/**
 * Positions as customers see them. Positions of the log count the events of all accounts, so that two of them, or one
 * looked at twice, would tell how much others send. A cursor is a position encrypted as one AES block under a key that
 * is derived from the instance key: it can be given back, and neither compared nor counted.
 *
 * The block holds the position (8 bytes), a salt (4) and the beginning of a digest of the account (4). The salt is 0
 * where the cursor names an event, so that an event always has the same one, and counts on where it names how far a
 * reader has come, so that nobody sees whether the log has grown in the meantime.
 */
export interface CursorsShape {
  /** The cursor of an event: the same each time, until the instance key changes. */
  readonly ofEvent: (account_id: string, position: bigint) => string
  /** A cursor that was never given out before: how far a reader, a follower or a replica has come. */
  readonly ofProgress: (account_id: string, position: bigint) => string
  /** Undefined for what was not made here for this account, under an instance key that is still kept. */
  readonly read: (account_id: string, text: string) => bigint | undefined
}

export const PREFIX = "pos_"
const BLOCK_BYTES = 16
const SALT_AT = 8
const ACCOUNT_AT = 12
const CIPHER = "aes-256-ecb"
const SALTS = 2 ** 32

export class Cursors extends Context.Service<Cursors, CursorsShape>()("@waybill/store/feed/Cursors") {
  static readonly layer = Layer.effect(
    Cursors,
    Effect.map(InstanceKey, (keyring) => make(keyring.derive("positions"))),
  )
}

/** The first key encrypts, all of them decrypt. One block each, so that a cipher without chaining is the right one. */
export const make = (keys: ReadonlyArray<Uint8Array>): CursorsShape => {
  const [current = new Uint8Array()] = keys
  const cipher = createCipheriv(CIPHER, current, null).setAutoPadding(false)
  const deciphers = keys.map((key) => createDecipheriv(CIPHER, key, null).setAutoPadding(false))
  let salt = randomInt(SALTS)
  // A page is of one account.
  let last = { account_id: "", digest: 0 }
  const digestOf = (account_id: string): number => {
    if (last.account_id !== account_id) last = { account_id, digest: digest(account_id) }
    return last.digest
  }

  const write = (account_id: string, position: bigint, salt: number): string => {
    const block = Buffer.alloc(BLOCK_BYTES)
    block.writeBigUInt64BE(position)
    block.writeUInt32BE(salt, SALT_AT)
    block.writeUInt32BE(digestOf(account_id), ACCOUNT_AT)
    return PREFIX + Id.base32(cipher.update(block))
  }

  return {
    ofEvent: (account_id, position) => write(account_id, position, 0),
    ofProgress: (account_id, position) => write(account_id, position, (salt = (salt + 1) % SALTS)),
    read: (account_id, text) => {
      const block = text.startsWith(PREFIX) ? Id.fromBase32(text.slice(PREFIX.length)) : undefined
      if (block === undefined) return undefined
      const account = digestOf(account_id)
      for (const decipher of deciphers) {
        const plain = decipher.update(block)
        if (plain.readUInt32BE(ACCOUNT_AT) === account) return plain.readBigUInt64BE()
      }
      return undefined
    },
  }
}

const digest = (account_id: string): number => createHash("sha256").update(account_id).digest().readUInt32BE()
