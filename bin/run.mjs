// Runs a tool of node_modules by package name, or a file of the checkout: `node bin/run.mjs vitest run`.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./install.mjs"
import { launch } from "./launch.mjs"

const [tool = "", ...args] = process.argv.slice(2)

const locate = () => {
  if (/\.m?[jt]s$/.test(tool)) return join(root, tool)
  const folder = join(root, "node_modules", tool)
  if (tool === "" || !existsSync(folder)) throw new Error(`this checkout has no package \`${tool}\``)
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return join(folder, typeof bin === "string" ? bin : bin[tool])
}

await launch({ file: locate, args, dev: true })
