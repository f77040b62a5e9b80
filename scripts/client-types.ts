// Writes packages/client/src/types.ts: `node bin/run.mjs scripts/client-types.ts`.
import { writeFileSync } from "node:fs"
import { FILE, render } from "./client-types/render.ts"

writeFileSync(FILE, render())
