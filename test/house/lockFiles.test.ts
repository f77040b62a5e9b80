import { readFileSync } from "node:fs"
import { lockFiles } from "../../scripts/release/lockFiles.ts"
import { assert, describe, it } from "../support/effectTest.ts"

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
}
type Packages = Readonly<Record<string, Locked>>

const LOCKS = lockFiles(".")

/** Builds of the compiler for other systems, which the registry that made the lock file did not have. */
const LOCKED_BY_VERSION = /^node_modules\/@effect\/tsgo-(?:darwin|win32|linux-arm)/

/** Returns where Node finds a package that the one at this path imports: beside it, or in a folder above. */
const resolve = (packages: Packages, path: string, name: string): Locked | undefined => {
  const inner = path === "" ? `node_modules/${name}` : `${path}/node_modules/${name}`
  if (packages[inner] !== undefined) return packages[inner]
  return path === "" ? undefined : resolve(packages, path.slice(0, Math.max(0, path.lastIndexOf("/"))), name)
}

/** Returns what a lock file lacks: `npm ci` refuses it, on every system, even if the package is for another one. */
const missing = (packages: Packages): ReadonlyArray<string> =>
  Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
      .filter((name) => entry.link !== true && resolve(packages, path, name)?.version === undefined)
      .filter((name) => resolve(packages, path, name)?.link !== true)
      .map((name) => `${name} of ${path === "" ? "the root" : path}`),
  )

const packagesOf = (file: string): Packages =>
  (JSON.parse(readFileSync(file, "utf8")) as { readonly packages: Packages }).packages

describe("lock files", () => {
  it("hold every package that another one asks for, those of other systems too", () => {
    assert.includeMembers([...LOCKS], ["package-lock.json", "runtime/package-lock.json"])
    for (const file of LOCKS) assert.deepStrictEqual(missing(packagesOf(file)), [], file)
  })

  it("hold the hash of every package", () => {
    const without = LOCKS.flatMap((file) =>
      Object.entries(packagesOf(file))
        .filter(([path, { integrity, link }]) => path.includes("node_modules/") && link !== true && !integrity)
        .filter(([path]) => !LOCKED_BY_VERSION.test(path))
        .map(([path]) => `${path} in ${file}`),
    )
    assert.deepStrictEqual(without, [])
  })

  it("a package without its build for another system is found", () => {
    const packages: Packages = {
      "": { devDependencies: { linter: "1.0.0" } },
      "node_modules/linter": {
        version: "1.0.0",
        optionalDependencies: { "linter-linux": "1.0.0", "linter-darwin": "1.0.0" },
      },
      "node_modules/linter-linux": { version: "1.0.0" },
    }
    assert.deepStrictEqual(missing(packages), ["linter-darwin of node_modules/linter"])
  })
})
