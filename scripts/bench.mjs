// npm run bench -- store: runs test/bench/store.ts. Without a name it runs all of them and writes docs/benchmarks.md.
import { readdirSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"

const folder = join(import.meta.dirname, "..", "test", "bench")
const benches = readdirSync(folder)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => basename(file, ".ts"))
const [name, ...args] = process.argv.slice(2)

if (name === undefined) {
  const { all } = await import(pathToFileURL(join(folder, "report", "all.ts")).href)
  await all(new Date().toISOString().slice(0, 10))
} else if (benches.includes(name)) {
  const file = join(folder, `${name}.ts`)
  process.argv = [process.execPath, file, ...args]
  await import(pathToFileURL(file).href)
} else {
  process.stderr.write(`Usage: npm run bench [-- ${benches.join("|")}]\n`)
  process.exit(64)
}
