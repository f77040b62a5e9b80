import { MASK, maskedText } from "./maskedText.ts"
import * as ShownFields from "./ShownFields.ts"

/** Maximum parameters of a query that are shown. */
const MAX_PARAMETERS = 50

/** Returns the query of a URL, decoded, with the values of unknown parameters and whatever looks like a secret masked. */
export const maskedQuery = (url: string): string =>
  [...new URLSearchParams(url.slice(url.indexOf("?") + 1).split("#", 1)[0])]
    .slice(0, MAX_PARAMETERS)
    .map(([name, value]) => `${maskedText(name)}=${ShownFields.isShown(name) ? maskedText(value) : MASK}`)
    .join("&")
