import { apiTypes } from "./ApiTypes.ts"
import { pythonTypes } from "./pythonTypes.ts"

/** Returns the types of the API in each language, by the path of their file below `packages`. */
export const languageTypes = (): Readonly<Record<string, string>> => {
  const types = apiTypes()
  return { "client-python/waybill/types.py": pythonTypes(types) }
}
