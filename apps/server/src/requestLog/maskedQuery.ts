import { MASK, maskedText } from "./maskedText.ts"
import { plainText } from "./plainText.ts"
import * as ShownFields from "./ShownFields.ts"

/** Maximum parameters of a query that are shown. */
const MAX_PARAMETERS = 50
/** Maximum characters of a masked query; the rest is cut. */
export const MAX_LOGGED_QUERY_CHARS = 2_000

/** Returns a query, decoded, with the values of unknown parameters and whatever looks like a secret masked. */
export const maskedQuery = (query: string): string => {
  const masked = [...new URLSearchParams(query)]
    .slice(0, MAX_PARAMETERS)
    .map(([name, value]) => `${maskedText(name)}=${ShownFields.isShownInQuery(name) ? shown(value) : MASK}`)
    .join("&")
  return masked.length > MAX_LOGGED_QUERY_CHARS ? `${masked.slice(0, MAX_LOGGED_QUERY_CHARS)}…` : masked
}

/** A value that holds further parameters, as in `limit=1;token=…`, is masked. */
const shown = (value: string): string => (plainText(value).includes("=") ? MASK : maskedText(value))
