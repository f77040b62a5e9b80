// npm run bench -- accept: runs test/bench/accept.ts, or bench.ts of a folder with the name. Without a name it runs all of
// them and writes docs/benchmarks.md.
import { globSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"

const folder = join(import.meta.dirname, "..", "test", "bench")
const benches = new Map([
  ...globSync("*.ts", { cwd: folder }).map((file) => [basename(file, ".ts"), join(folder, file)]),
  ...globSync("*/bench.ts", { cwd: folder }).map((file) => [dirname(file), join(folder, file)]),
])
const [name, ...args] = process.argv.slice(2)

if (name === undefined) {
  const { all } = await import(pathToFileURL(join(folder, "report", "all.ts")).href)
  await all(new Date().toISOString().slice(0, 10))
} else if (benches.has(name)) {
  const file = benches.get(name)
  process.argv = [process.execPath, file, ...args]
  await import(pathToFileURL(file).href)
} else {
  process.stderr.write(`Usage: npm run bench [-- ${[...benches.keys()].join("|")}]\n`)
  process.exit(64)
}
