import type { Admitted } from "./Admitted.ts"

/** Returns the account that a request was admitted for; empty if it needs none. */
export const accountOf = (admitted: Admitted | undefined): string => {
  if (admitted === undefined) return ""
  return "key" in admitted ? admitted.key.account_id : admitted.user.account_id
}
