import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as NewApiKeys from "../../operate/NewApiKeys.ts"

const BEARER = /^bearer +(\S+)$/iu

/** Returns the hash of the API key in an `Authorization` header; `null` if there is none that is well-formed. */
export const bearerHash = (authorization: string | undefined): string | null => {
  const token = BEARER.exec(authorization ?? "")?.[1]
  return token !== undefined && ApiKeySecret.isWellFormed(token) ? NewApiKeys.hashOf(token) : null
}
