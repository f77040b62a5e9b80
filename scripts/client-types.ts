// Writes the types of all clients out of the API: `node bin/run.mjs scripts/client-types.ts`.
import { writeFileSync } from "node:fs"
import * as ApiTypes from "./generate/ApiTypes.ts"
import * as ClientTypes from "./generate/clientTypes.ts"
import { languageTypes } from "./generate/languageTypes.ts"

writeFileSync(ClientTypes.FILE, ClientTypes.render())
for (const [path, text] of Object.entries(languageTypes())) writeFileSync(ApiTypes.fileOf(path), text)
