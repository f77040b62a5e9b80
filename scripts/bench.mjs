// npm run bench -- store: runs test/bench/store.ts; without a name it lists what there is.
import { readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"

const folder = join(import.meta.dirname, "..", "test", "bench")
const benches = readdirSync(folder)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => basename(file, ".ts"))
const [name, ...args] = process.argv.slice(2)

if (!benches.includes(name)) {
  process.stderr.write(`Usage: npm run bench -- <${benches.join("|")}>\n`)
  process.exit(64)
}
const file = join(folder, `${name}.ts`)
process.argv = [process.execPath, file, ...args]
await import(pathToFileURL(file).href)
