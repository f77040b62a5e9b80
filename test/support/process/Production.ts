import { readFileSync } from "node:fs"
import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"

interface Locked {
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/**
 * Returns the lock file's paths of the packages that a workspace needs to run: dependencies and required peers, without
 * development and optional ones.
 */
export const packagesOf = (workspace: string): ReadonlyArray<string> => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const find = (from: string, name: string): string | undefined => {
    for (let folder = from; ; folder = dirname(folder)) {
      const path = folder === "." || folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`
      if (path in packages) return path
      if (folder === "." || folder === "") return undefined
    }
  }
  const paths = new Set<string>()
  const waiting = [workspace]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const { dependencies = {}, link, peerDependencies = {}, peerDependenciesMeta = {}, resolved } = packages[path] ?? {}
    if (link === true && resolved !== undefined) waiting.push(resolved)
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
    for (const name of [...Object.keys(dependencies), ...peers]) {
      const at = find(path, name)
      if (at === undefined) throw new Error(`${path} needs ${name}, which the lock file does not have`)
      if (paths.has(at)) continue
      paths.add(at)
      waiting.push(at)
    }
  }
  return [...paths].sort()
}

/** Copies by hard links where the disk allows it; symbolic links stay links. */
export const copyByLinks = async (
  from: string,
  to: string,
  keep: (path: string) => boolean = () => true,
): Promise<void> => {
  const stat = await fs.lstat(from)
  if (stat.isSymbolicLink()) {
    await fs.mkdir(dirname(to), { recursive: true })
    await fs.symlink(await fs.readlink(from), to)
  } else if (stat.isDirectory()) {
    await fs.mkdir(to, { recursive: true })
    for (const name of await fs.readdir(from))
      if (keep(join(from, name))) await copyByLinks(join(from, name), join(to, name), keep)
  } else {
    await fs.mkdir(dirname(to), { recursive: true })
    await fs.link(from, to).catch(() => fs.copyFile(from, to))
  }
}
