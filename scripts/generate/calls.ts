// Writes the calls of other services' packages into docs/compatibility.md: `npm run calls`.
import { readFileSync, writeFileSync } from "node:fs"
import { BEGIN_CALLS, END_CALLS, writtenCalls } from "../../test/server/compat/callTables.ts"

const FILE = "docs/compatibility.md"
const text = readFileSync(FILE, "utf8")
const before = text.slice(0, text.indexOf(BEGIN_CALLS) + BEGIN_CALLS.length)
writeFileSync(FILE, `${before}\n\n${writtenCalls()}\n\n${text.slice(text.indexOf(END_CALLS))}`)
