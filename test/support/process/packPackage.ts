import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL("../../../", import.meta.url))

export interface Packed {
  /** Folder that holds everything, to be deleted after the test. */
  readonly folder: string
  readonly tarball: string
  /** Empty project with the packed package as its only one. */
  readonly project: string
}

/**
 * Packs a package for customers as it is published and installs it in an empty project. A copy is packed, as tests run in
 * parallel.
 */
export const packPackage = async (name: string): Promise<Packed> => {
  const folder = await mkdtemp(join(tmpdir(), `waybill-${name}-`))
  const [build, project] = [join(folder, "build"), join(folder, "project")]
  const copy = join(build, "packages", name)
  await cp(join(ROOT, "packages", name), copy, {
    recursive: true,
    filter: (path) => !path.startsWith(join(ROOT, "packages", name, "dist")),
  })
  await cp(join(ROOT, "tsconfig.json"), join(build, "tsconfig.json"))
  await symlink(join(ROOT, "node_modules"), join(build, "node_modules"))
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: copy })
  const packed: unknown = JSON.parse(
    stdout.slice(stdout.indexOf("[") === -1 ? stdout.indexOf("{") : stdout.indexOf("[")),
  )
  const [{ filename }] = Object.values(packed as Record<string, { filename: string }>) as [{ filename: string }]
  const tarball = join(folder, filename)
  await mkdir(project)
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }))
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: project })
  return { folder, tarball, project }
}
