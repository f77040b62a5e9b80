/**
 * Test mail belongs to an account of its own, the test account. It has no record: its id is that of the live account as
 * a UUID of version 8 instead of 7. Every query is by account, so test mail is apart from live mail in all of them.
 */
const PREFIX_CHARS = "acc_".length
/** Character that holds the four bits of the UUID's version, and one more. */
const VERSION_AT = PREFIX_CHARS + 10
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
/** Turns version 7 into 8 and back; the first of its bits is set in version 8 only. */
const SWAPPED_BITS = 0b11110
const FIRST_OF_VERSION_8 = "g"

/** Whether the account holds live mail; false for a test account. */
export const isLive = (account_id: string): boolean => !((account_id[VERSION_AT] ?? "") >= FIRST_OF_VERSION_8)

/** Returns the account that holds the mail of the other mode. */
export const otherAccountOf = <Id extends string>(account_id: Id): Id => {
  const swapped = ALPHABET[ALPHABET.indexOf(account_id[VERSION_AT] ?? "") ^ SWAPPED_BITS] ?? ""
  return (account_id.slice(0, VERSION_AT) + swapped + account_id.slice(VERSION_AT + 1)) as Id
}

/** Returns the account that owns the keys, domains and webhooks of a live or test account. */
export const liveAccountOf = <Id extends string>(account_id: Id): Id =>
  isLive(account_id) ? account_id : otherAccountOf(account_id)

/** Returns the account that holds the test mail of a live or test account. */
export const testAccountOf = <Id extends string>(account_id: Id): Id =>
  isLive(account_id) ? otherAccountOf(account_id) : account_id

/** How much of the account a key works with: a test key reads and sends test mail only. */
export type Mode = "live" | "test"
