// Writes the lock file: `node test/clients/frameworks/lock.mjs`. A whole framework has hundreds of packages, of which its adapter for
// mail imports a few. npm keeps to the entries of a lock file, so that those of `imported` are written first, with what they need.
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const cwd = import.meta.dirname
const npm = (...args) => execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

const { devDependencies, imported, name, version } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"))
const packages = { "": { name, version, devDependencies } }
for (const [each, names] of Object.entries(imported)) {
  const fields = ["dist.integrity", "dependencies", "license"]
  const found = JSON.parse(npm("view", `${each}@${devDependencies[each]}`, ...fields, "--json"))
  packages[`node_modules/${each}`] = {
    version: devDependencies[each],
    integrity: found["dist.integrity"],
    dev: true,
    license: found.license,
    dependencies: Object.fromEntries(names.map((dependency) => [dependency, found.dependencies[dependency]])),
  }
}
const lock = { name, version, lockfileVersion: 3, requires: true, packages }
writeFileSync(join(cwd, "package-lock.json"), JSON.stringify(lock))
npm(
  "install",
  "--package-lock-only",
  "--omit-lockfile-registry-resolved",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
)
