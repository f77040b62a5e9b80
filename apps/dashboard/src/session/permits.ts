import type { Scope } from "../api/Records.ts"

/** Scopes that a wider one includes, as in the API. `admin` includes all. */
const INCLUDED_IN: { readonly [S in Scope]?: Scope } = {
  "stats:read": "email:logs:read",
  "suppressions:read": "email:logs:read",
}

/** Whether the granted scopes include the required one. */
export const permits = (granted: ReadonlyArray<string>, required: Scope | undefined): boolean => {
  if (required === undefined || granted.includes(required) || granted.includes("admin")) return true
  const wider = INCLUDED_IN[required]
  return wider !== undefined && granted.includes(wider)
}
