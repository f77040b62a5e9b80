import { apiTypes } from "./ApiTypes.ts"
import { goTypes } from "./goTypes.ts"
import { phpTypes } from "./phpTypes.ts"
import { pythonTypes } from "./pythonTypes.ts"
import { rubyTypes } from "./rubyTypes.ts"

/** Returns the types of the API in each language, by the path of their file below `packages`. */
export const languageTypes = (): Readonly<Record<string, string>> => {
  const types = apiTypes()
  return {
    "client-go/types.go": goTypes(types),
    "client-php/src/Types.php": phpTypes(types),
    "client-python/waybill/types.py": pythonTypes(types),
    "client-ruby/sig/types.rbs": rubyTypes(types),
  }
}
