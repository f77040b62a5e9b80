import type { Scope } from "../api/Records.ts"
import * as Navigation from "./Navigation.ts"
import { useSession } from "./useSession.ts"

/** Whether the signed-in user's role includes the scope. */
export const useHasScope = (scope: Scope): boolean => Navigation.permits(useSession().session.scopes, scope)
