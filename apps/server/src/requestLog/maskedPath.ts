import { maskedText } from "./maskedText.ts"
import { plainText } from "./plainText.ts"

/** Returns a path without what looks like a secret, however that is encoded. */
export const maskedPath = (path: string): string => {
  const plain = plainText(path)
  const masked = maskedText(plain)
  return masked === plain ? path : masked
}
