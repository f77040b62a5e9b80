// Makes a bundle: `node bin/bundler.mjs <folder>`. Says nothing where there is nothing to make it with.
import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { isWhole } from "./bundle.mjs"
import { root } from "./install.mjs"

/** Old ones stay a while: what runs from one may not have needed all of its files yet. */
const MAX_BUNDLES = 16

/**
 * Effect is some hundred modules, of which we use a part. Packages that were not written as modules stay as they are, and
 * so do three megabytes for browsers, which are read when somebody asks for them.
 */
const LEFT = /^(?![./]|node:|effect$|effect\/|@effect\/|@waybill\/)|\/httpApiScalar\.js$/

/** vite brings one along, and the dashboard has vite. */
const bundler = async () => {
  try {
    const vite = createRequire(join(root, "apps", "dashboard", "package.json")).resolve("vite/package.json")
    return await import(pathToFileURL(createRequire(vite).resolve("rolldown")).href)
  } catch {
    process.exit(0)
  }
}

/** What is not bundled is loaded from where the sources would find it. */
const packages = {
  name: "packages",
  resolveId: {
    filter: { id: LEFT },
    async handler(name, importer, options) {
      const found = await this.resolve(name, importer, { ...options, skipSelf: true })
      return found === null || found.external ? found : { id: pathToFileURL(found.id).href, external: true }
    },
  },
}

/** Migrations, the dashboard and the embedded Postgres lie beside the sources. */
const places = {
  name: "places",
  transform: {
    filter: { code: "import.meta.url" },
    handler: (code, id) => code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)),
  },
}

const [target = ""] = process.argv.slice(2)
const building = `${target}.${randomUUID()}`
const { rolldown } = await bundler()
try {
  const bundle = await rolldown({
    cwd: root,
    input: { main: join(root, "apps", "server", "src", "main.ts") },
    platform: "node",
    resolve: { conditionNames: ["node", "import", "default"] },
    plugins: [packages, places],
    tsconfig: false,
    logLevel: "silent",
  })
  const { output } = await bundle.write({
    dir: building,
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    comments: false,
  })
  const sizes = output.map(({ fileName }) => [fileName, statSync(join(building, fileName)).size])
  writeFileSync(join(building, "files.json"), JSON.stringify(Object.fromEntries(sizes)))
  install()
} finally {
  rmSync(building, { recursive: true, force: true })
}

/** By one rename; whoever made the same meanwhile was first. */
function install() {
  if (existsSync(target) && !isWhole(target)) rmSync(target, { recursive: true, force: true })
  try {
    renameSync(building, target)
  } catch (error) {
    if (!isWhole(target)) throw error
  }
}

const folder = dirname(target)
const changed = (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
const newestFirst = readdirSync(folder).sort((one, other) => changed(other) - changed(one))
for (const name of newestFirst.slice(MAX_BUNDLES)) rmSync(join(folder, name), { recursive: true, force: true })
