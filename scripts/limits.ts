// Writes the part of docs/limits.md that is read off the code: `npm run limits`.
import { readFileSync, writeFileSync } from "node:fs"
import { BEGIN, END, written } from "../test/house/limits.ts"

const FILE = "docs/limits.md"
const text = readFileSync(FILE, "utf8")
const before = text.slice(0, text.indexOf(BEGIN) + BEGIN.length)
const after = text.slice(text.indexOf(END))
writeFileSync(FILE, `${before}\n\n${written()}\n${after}`)
