import { hash, randomBytes } from "node:crypto"

const RANDOM_BYTES = 12
const PART_CHARS = 16

const checksumOf = (account_id: string, random: string): string =>
  hash("sha256", `${account_id} ${random}`, "base64url").slice(0, PART_CHARS)

/**
 * Makes the id of a batch, of 32 characters. Nothing is stored: its second half tells that it was made here for the account,
 * and finds a typing error. Whoever makes one up names a batch of the own account only.
 */
export const make = (account_id: string): string => {
  const random = randomBytes(RANDOM_BYTES).toString("base64url")
  return random + checksumOf(account_id, random)
}

/** Whether a batch belongs to the account, or to the test mail of one, as its id was made. */
export const isOf = (account_id: string, batch_id: string): boolean =>
  batch_id.length === 2 * PART_CHARS &&
  batch_id.slice(PART_CHARS) === checksumOf(account_id, batch_id.slice(0, PART_CHARS))
