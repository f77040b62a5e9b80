// Writes the generated part of docs/limits.md: `npm run limits`.
import { readFileSync, writeFileSync } from "node:fs"
import { BEGIN_LIMITS, END_LIMITS, writtenLimits } from "../../test/house/bounds/bounds.ts"

const FILE = "docs/limits.md"
const text = readFileSync(FILE, "utf8")
const before = text.slice(0, text.indexOf(BEGIN_LIMITS) + BEGIN_LIMITS.length)
writeFileSync(FILE, `${before}\n\n${writtenLimits()}\n${text.slice(text.indexOf(END_LIMITS))}`)
