import * as Id from "@waybill/domain/values/Id"
import { Context, Effect, Layer } from "effect"
import { createCipheriv, createDecipheriv, createHash, randomInt } from "node:crypto"
import { InstanceKey } from "../secrets/InstanceKey.ts"

/**
 * Cursors are positions of the log as customers see them. Positions count the events of all accounts, so two of them would
 * show how much other accounts send. A cursor is a position encrypted as one AES block under a key derived from the
 * instance key: it can be sent back, but not compared or counted.
 *
 * The block holds the position (8 bytes), a salt (4) and the start of a digest of the account (4). The salt is 0 in the
 * cursor of an event, so that an event always has the same cursor, and a counter in the cursor of a reader's progress, so
 * that equal positions do not show whether the log has grown.
 */
export interface CursorsShape {
  /** Returns the cursor of an event, which is the same each time until the instance key changes. */
  readonly ofEvent: (account_id: string, position: bigint) => string
  /** Returns a new cursor for the progress of a reader, a follower or a replica. */
  readonly ofProgress: (account_id: string, position: bigint) => string
  /** Returns undefined unless the cursor was made for this account under a retained instance key. */
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

/** The first key encrypts, all keys decrypt. A cursor is a single block, so a cipher without chaining is the right one. */
export const make = (keys: ReadonlyArray<Uint8Array>): CursorsShape => {
  const [current = new Uint8Array()] = keys
  const cipher = createCipheriv(CIPHER, current, null).setAutoPadding(false)
  const deciphers = keys.map((key) => createDecipheriv(CIPHER, key, null).setAutoPadding(false))
  let salt = randomInt(SALTS)
  // Cached, because all cursors of a page are of one account.
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
