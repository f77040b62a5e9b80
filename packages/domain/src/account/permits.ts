// Without an import that runs: the dashboard shows by the same rule what a user may open.
import type { Scope } from "./Scope.ts"

/**
 * Wider scopes that include a scope, beside `admin`, which includes all. Statistics and suppressions were read with
 * `email:logs:read` before they had scopes of their own, and such keys keep what they had.
 */
const INCLUDED_IN: { readonly [S in Scope]?: Scope } = {
  "stats:read": "email:logs:read",
  "suppressions:read": "email:logs:read",
}

/** Whether the granted scopes include the needed one. */
export const permits = (granted: ReadonlyArray<string>, needed: Scope): boolean => {
  const wider = INCLUDED_IN[needed]
  return granted.includes(needed) || granted.includes("admin") || (wider !== undefined && granted.includes(wider))
}
