// Writes packages/client/src/types.ts: `node bin/run.mjs scripts/client-types.ts`.
import { writeFileSync } from "node:fs"
import { FILE, render } from "./generate/clientTypes.ts"

writeFileSync(FILE, render())
