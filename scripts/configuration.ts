// Writes docs/configuration.md: `node bin/run.mjs scripts/configuration.ts`.
import { writeFileSync } from "node:fs"
import { FILE, render } from "./generate/configuration.ts"

writeFileSync(FILE, render())
