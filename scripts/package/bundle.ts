import { createRequire, isBuiltin } from "node:module"
import { dirname, join, relative } from "node:path"
import { pathToFileURL } from "node:url"
import { ROOT } from "./Manifest.ts"

/** Folder of everything that is built for the package. */
export const DIST = join(ROOT, "dist")
const MAIN = join(ROOT, "apps", "server", "src", "boot", "main.ts")

/** Packages that other packages load if somebody has installed them. Nothing of the service needs them. */
const NEVER_BUNDLED = ["@opentelemetry/api", "typescript"]

interface Chunk {
  readonly fileName: string
  readonly code?: string
  readonly imports?: ReadonlyArray<string>
  readonly dynamicImports?: ReadonlyArray<string>
}

interface Rolldown {
  readonly rolldown: (options: object) => Promise<{
    readonly [way in "generate" | "write"]: (options: object) => Promise<{ output: ReadonlyArray<Chunk> }>
  }>
}

/** Loads rolldown, a dependency of vite, which the dashboard uses. */
export const loadRolldown = async (): Promise<Rolldown> => {
  const vite = createRequire(join(ROOT, "apps", "dashboard", "package.json")).resolve("vite/package.json")
  return (await import(pathToFileURL(createRequire(vite).resolve("rolldown")).href)) as Rolldown
}

/** Modules of a thread of their own: each becomes a file that the bundle starts in place of the source. */
const THREAD = /new URL\("(\.\/[\w./]+\.ts)", import\.meta\.url\)/gu

/**
 * Replaces import.meta.url by the URL that the source file would have in the package, because migrations, dashboard and
 * embedded Postgres are found relative to the sources. Sources of other packages keep their own.
 */
const fileUrls = {
  name: "fileUrls",
  transform: {
    filter: { id: { exclude: /node_modules/u }, code: "import.meta.url" },
    handler(this: { readonly emitFile: (file: object) => string }, code: string, id: string) {
      const url = `new URL(${JSON.stringify(relative(DIST, id))}, import.meta.url).href`
      return code
        .replaceAll(THREAD, (_, name: string) => {
          const chunk = this.emitFile({ type: "chunk", id: join(dirname(id), name) })
          return `new URL(import.meta.ROLLUP_FILE_URL_${chunk})`
        })
        .replaceAll("import.meta.url", url)
    },
  },
}

/**
 * Bundles the service and all its packages, so that the published package depends on nothing but the embedded Postgres:
 * everybody runs the versions of the lock file, and npm has one package to install.
 */
export const bundle = async (): Promise<void> => {
  const { rolldown } = await loadRolldown()
  const built = await rolldown({
    cwd: ROOT,
    input: { main: MAIN },
    platform: "node",
    external: NEVER_BUNDLED,
    plugins: [fileUrls],
    tsconfig: false,
    logLevel: "silent",
  })
  const { output } = await built.write({
    dir: DIST,
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    comments: false,
  })
  const own = new Set(output.map(({ fileName }) => fileName))
  const imported = output.flatMap(({ dynamicImports = [], imports = [] }) => [...imports, ...dynamicImports])
  const foreign = new Set(
    imported.filter((name) => !own.has(name) && !isBuiltin(name) && !NEVER_BUNDLED.includes(name)),
  )
  if (foreign.size > 0) throw new Error(`the bundle would need ${[...foreign].join(", ")} beside it`)
}
