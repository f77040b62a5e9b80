import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { manifest, ROOT } from "./Manifest.ts"

/** A package of others, as the lock file has it. */
export interface Locked {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly integrity: string | undefined
  /** Its folder in the checkout. */
  readonly folder: string
}

interface Entry {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The programs whose code is published. */
const PROGRAMS = ["apps/server", "apps/dashboard"]
/** What only builds the dashboard, which is bundled whatever its packages are called there. */
const BUILDERS = /^(?:@types\/|@vitejs\/|vite$|@tailwindcss\/vite$)/u

const locked = (): Readonly<Record<string, Entry>> =>
  (JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as { packages: Record<string, Entry> }).packages

/** Finds a package as Node does: in the folder that needs it, or in one around it. */
const find = (packages: Readonly<Record<string, Entry>>, name: string, from: string): string | undefined => {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name)
    if (path in packages) return path
    if (folder === ".") return undefined
  }
}

const describe = (path: string, { integrity, license = "", version = "" }: Entry): Locked => ({
  name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
  version,
  license,
  integrity,
  folder: join(ROOT, path),
})

/** Returns the packages whose code may be in the bundle or the dashboard, in the order of their names. */
export const bundledPackages = (): ReadonlyArray<Locked> => {
  const packages = locked()
  const found = new Map<string, Locked>()
  const seen = new Set(PROGRAMS)
  for (const folder of seen) {
    const entry = packages[folder] ?? {}
    if (folder.includes("node_modules/")) {
      const known = describe(folder, entry)
      found.set(`${known.name}@${known.version}`, known)
    }
    const needed = { ...entry.dependencies, ...(PROGRAMS.includes(folder) ? entry.devDependencies : {}) }
    for (const name of Object.keys(needed)) {
      const path = BUILDERS.test(name) ? undefined : find(packages, name, folder)
      if (path !== undefined) seen.add(packages[path]?.link === true ? (packages[path].resolved ?? path) : path)
    }
  }
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** Returns those that npm installs beside the package: the embedded Postgres of each system. */
export const installedPackages = (): ReadonlyArray<Locked> =>
  Object.entries(locked())
    .map(([path, entry]) => describe(path, entry))
    .filter(({ name }) => name in manifest.optionalDependencies)
