// Writes a bundle: `node bin/bundler.mjs <folder>`. Exits silently if no bundler is installed.
import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { isWhole } from "./bundle.mjs"
import { root } from "./install.mjs"

/** Number of bundles to keep. A running service may not have loaded all files of an old one yet. */
const MAX_BUNDLES = 16

/**
 * Modules that are not bundled, because few starts load them: the server for assistants, packages that others load if
 * somebody has installed them, and the 3 MB file of an API reference page, which is not used.
 */
const NOT_BUNDLED = /^(?:@modelcontextprotocol|@react-email|@opentelemetry|typescript)(?:\/|$)|\/httpApiScalar\.js$/

/** Loads rolldown, a dependency of vite, which the dashboard uses. */
const bundler = async () => {
  try {
    const vite = createRequire(join(root, "apps", "dashboard", "package.json")).resolve("vite/package.json")
    return await import(pathToFileURL(createRequire(vite).resolve("rolldown")).href)
  } catch {
    process.exit(0)
  }
}

/** Resolves modules that are not bundled to the paths that the sources would use. */
const packages = {
  name: "packages",
  resolveId: {
    filter: { id: NOT_BUNDLED },
    async handler(name, importer, options) {
      const resolved = await this.resolve(name, importer, { ...options, skipSelf: true })
      return resolved === null || resolved.external ? resolved : { id: pathToFileURL(resolved.id).href, external: true }
    },
  },
}

/** Modules of a thread of their own: each becomes a file that the bundle starts in place of the source. */
const THREAD = /new URL\("(\.\/[\w./]+\.ts)", import\.meta\.url\)/g

/**
 * Replaces import.meta.url by the URL of the source file, because migrations, dashboard and embedded Postgres are found
 * relative to the sources.
 */
const fileUrls = {
  name: "fileUrls",
  transform: {
    filter: { code: "import.meta.url" },
    handler(code, id) {
      const thread = (_, name) => this.emitFile({ type: "chunk", id: join(dirname(id), name) })
      return code
        .replaceAll(THREAD, (...found) => `new URL(import.meta.ROLLUP_FILE_URL_${thread(...found)})`)
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
    },
  },
}

/** Gives modules of Node's own kind the path of their source, which some look for files beside. */
const filePaths = {
  name: "filePaths",
  transform: {
    filter: { code: /\b__(?:dirname|filename)\b/ },
    handler: (code, id) =>
      /\b(?:const|let|var)\s+__(?:dirname|filename)\b/.test(code)
        ? null
        : `const __dirname = ${JSON.stringify(dirname(id))}, __filename = ${JSON.stringify(id)};${code}`,
  },
}

const [target = ""] = process.argv.slice(2)
const building = `${target}.${randomUUID()}`
const { rolldown } = await bundler()
try {
  const bundle = await rolldown({
    cwd: root,
    input: { main: join(root, "apps", "server", "src", "boot", "main.ts") },
    platform: "node",
    plugins: [packages, fileUrls, filePaths],
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

/** Moves the bundle into place by a rename. If another process has already done so, its bundle is used. */
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
