// Writes what of docs/limits.md and docs/security.md is read off the code: `npm run limits`.
import { readFileSync, writeFileSync } from "node:fs"
import { BEGIN_BOUNDS, END_BOUNDS, writtenBounds } from "../test/house/bounds.ts"
import { BEGIN, END, written } from "../test/house/limits.ts"

const write = (file: string, begin: string, end: string, part: string) => {
  const text = readFileSync(file, "utf8")
  const before = text.slice(0, text.indexOf(begin) + begin.length)
  const after = text.slice(text.indexOf(end))
  writeFileSync(file, `${before}\n\n${part}\n${after}`)
}
write("docs/limits.md", BEGIN, END, written())
write("docs/security.md", BEGIN_BOUNDS, END_BOUNDS, writtenBounds())
