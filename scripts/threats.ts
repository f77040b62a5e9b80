// Writes the tests of each threat into docs/security.md: `npm run threats`.
import { readFileSync, writeFileSync } from "node:fs"
import { FILE, written } from "./generate/threats.ts"

writeFileSync(FILE, written(readFileSync(FILE, "utf8")))
