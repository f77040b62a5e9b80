import type { Scope } from "../api/Records.ts"
import { permits } from "@waybill/domain/account/permits"
import { useSession } from "./useSession.ts"

/** Whether the signed-in user's role includes the scope. */
export const useHasScope = (scope: Scope): boolean => permits(useSession().session.scopes, scope)
