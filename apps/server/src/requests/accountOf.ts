import type { AccountId } from "@waybill/domain/values/Id"
import type { Admitted } from "./Admitted.ts"

/** Returns the account that a request was admitted for; empty if it needs none. */
export const accountOf = (admitted: Admitted | undefined): AccountId => {
  if (admitted === undefined) return "" as AccountId
  return "key" in admitted ? admitted.key.account_id : admitted.user.account_id
}
