import { execFile } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join, matchesGlob } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Packages that are published besides the service itself, which is the project's own package. */
export const PACKAGES = ["client", "nodemailer-transport", "redirect", "testing", "verify"]

/** A packed package. */
export interface Packed {
  readonly name: string
  readonly tarball: string
  readonly size: number
  readonly files: ReadonlyArray<string>
  readonly exports: unknown
}

interface Report {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly files: ReadonlyArray<{ readonly path: string }>
}

const npmPack = async (folder: string, to: string, ...options: ReadonlyArray<string>): Promise<Packed> => {
  const args = ["pack", "--json", "--loglevel=error", "--pack-destination", to, ...options]
  const { stdout } = await run("npm", args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
  // What a build prints comes first; newer versions of npm give an object by name.
  const parsed = JSON.parse(stdout.slice(stdout.search(/^[[{]/mu))) as ReadonlyArray<Report> | Record<string, Report>
  const [report] = Object.values(parsed)
  if (report === undefined) throw new Error(`npm packed nothing in ${folder}`)
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly exports?: unknown }
  return {
    name: report.name,
    tarball: join(to, report.filename.replace(/^@/u, "").replace("/", "-")),
    size: report.size,
    files: report.files.map(({ path }) => path),
    exports: manifest.exports ?? {},
  }
}

/** Packs the service, which is built from the checkout. */
export const packService = (root: string, to: string): Promise<Packed> => npmPack(root, to)

/**
 * Builds and packs a copy of another package. The copy exports nothing that is not packed: the checkout also exports its
 * sources, to packages that are built with it.
 */
export const packPackage = async (root: string, name: string, scratch: string, to: string): Promise<Packed> => {
  const folder = join(scratch, "packages", name)
  mkdirSync(join(scratch, "packages"), { recursive: true })
  cpSync(join(root, "packages", name), folder, { recursive: true, filter: (path) => !/\/dist$|\.tgz$/u.test(path) })
  cpSync(join(root, "tsconfig.json"), join(scratch, "tsconfig.json"))
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  await run("npm", ["run", "prepack", "--silent"], { cwd: folder })
  const { files } = await npmPack(folder, to, "--ignore-scripts", "--dry-run")
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { exports: object }
  const exports = Object.entries(manifest.exports).filter(([, target]) => deadTargets(target, files).length === 0)
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify({ ...manifest, exports: Object.fromEntries(exports) }, undefined, 2)}\n`,
  )
  return npmPack(folder, to, "--ignore-scripts")
}

/** Returns the files that exports name and a package does not have. */
export const deadTargets = (exports: unknown, files: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (typeof exports === "object" && exports !== null)
    return Object.values(exports).flatMap((target) => deadTargets(target, files))
  const path = String(exports).replace(/^\.\//u, "")
  return files.some((file) => matchesGlob(file, path)) ? [] : [path]
}
