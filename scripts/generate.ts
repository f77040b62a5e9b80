// npm run generate: writes all generated files. `npm run generate limits` writes one, `npm run generate events limits` two.
import { readFileSync, writeFileSync } from "node:fs"
import { BEGIN_LIMITS, END_LIMITS, writtenLimits } from "../test/house/bounds/bounds.ts"
import { BEGIN_CALLS, END_CALLS, writtenCalls } from "../test/server/compat/callTables.ts"
import * as ApiTypes from "./generate/ApiTypes.ts"
import * as clientTypes from "./generate/clientTypes.ts"
import * as configuration from "./generate/configuration.ts"
import * as errors from "./generate/errors.ts"
import * as events from "./generate/events.ts"
import { languageTypes } from "./generate/languageTypes.ts"
import * as schema from "./generate/schema.ts"
import * as threats from "./generate/threats.ts"
import * as verifyPage from "./generate/verifyPage.ts"

/** Writes the part of a document between two lines. */
const writePart = (file: string, begin: string, end: string, part: string): void => {
  const text = readFileSync(file, "utf8")
  const before = text.slice(0, text.indexOf(begin) + begin.length)
  writeFileSync(file, `${before}\n\n${part.trim()}\n\n${text.slice(text.indexOf(end))}`)
}

const WRITERS: Readonly<Record<string, () => void | Promise<void>>> = {
  calls: () => writePart("docs/compatibility.md", BEGIN_CALLS, END_CALLS, writtenCalls()),
  clients: () => {
    writeFileSync(clientTypes.FILE, clientTypes.render())
    for (const [path, text] of Object.entries(languageTypes())) writeFileSync(ApiTypes.fileOf(path), text)
  },
  configuration: () => writeFileSync(configuration.FILE, configuration.render()),
  errors: async () => writeFileSync(errors.FILE, await errors.written()),
  events: () => writeFileSync(events.FILE, events.written()),
  limits: () => writePart("docs/limits.md", BEGIN_LIMITS, END_LIMITS, writtenLimits()),
  schema: async () => writeFileSync(schema.FILE, await schema.written()),
  threats: () => writeFileSync(threats.FILE, threats.written(readFileSync(threats.FILE, "utf8"))),
  "verify-page": async () => writeFileSync(verifyPage.PAGE, await verifyPage.writtenPage()),
}

const names = process.argv.slice(2)
for (const name of names.length > 0 ? names : Object.keys(WRITERS)) {
  const write = WRITERS[name]
  if (write === undefined) throw new Error(`there is no ${name}; there are ${Object.keys(WRITERS).join(", ")}`)
  await write()
}
