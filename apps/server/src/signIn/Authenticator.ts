import { createHmac, timingSafeEqual } from "node:crypto"

/** Parameters of RFC 6238 that authenticator apps use. */
const STEP_SECONDS = 30
const DIGITS = 6
/** Number of steps before and after the current one whose codes are accepted, for clocks that differ. */
const SKEW_STEPS = 1

const codeAt = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac("sha1", secret).update(counter).digest()
  const offset = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, "0")
}

const isEqual = (left: string, right: string): boolean => {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Returns the newest of the accepted time steps that has this code. */
export const stepOf = (secret: string, code: string, now_ms: number): number | undefined => {
  const current = Math.floor(now_ms / 1000 / STEP_SECONDS)
  const steps = Array.from({ length: 2 * SKEW_STEPS + 1 }, (_, nth) => current + SKEW_STEPS - nth)
  return steps.find((step) => isEqual(codeAt(secret, step), code))
}
