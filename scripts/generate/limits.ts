// Writes the generated parts of docs/limits.md and docs/security.md: `npm run limits`.
import { readFileSync, writeFileSync } from "node:fs"
import {
  BEGIN_BOUNDS,
  BEGIN_LIMITS,
  END_BOUNDS,
  END_LIMITS,
  writtenBounds,
  writtenLimits,
} from "../../test/house/bounds/bounds.ts"

const write = (file: string, begin: string, end: string, part: string) => {
  const text = readFileSync(file, "utf8")
  const before = text.slice(0, text.indexOf(begin) + begin.length)
  const after = text.slice(text.indexOf(end))
  writeFileSync(file, `${before}\n\n${part}\n${after}`)
}
write("docs/limits.md", BEGIN_LIMITS, END_LIMITS, writtenLimits())
write("docs/security.md", BEGIN_BOUNDS, END_BOUNDS, writtenBounds())
