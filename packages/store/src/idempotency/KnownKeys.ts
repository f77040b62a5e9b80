import { LruCache } from "@waybill/domain/collections/LruCache"
import { type Claim, claimKey } from "./Claim.ts"

/** Maximum number of idempotency keys that a process remembers. */
export const MAX_KNOWN_KEYS = 10_000

/** The idempotency keys that this process has met last. A key that is not among them is assumed to be new. */
export class KnownKeys {
  readonly #keys = new LruCache<string, true>({ maxEntries: MAX_KNOWN_KEYS })

  areNew(claims: ReadonlyArray<Claim>): boolean {
    return claims.every((claim) => this.#keys.get(claimKey(claim)) === undefined)
  }

  add(claims: ReadonlyArray<Claim>): void {
    for (const claim of claims) this.#keys.set(claimKey(claim), true)
  }
}
