import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as RootFolder from "./RootFolder.ts"

/** Folder in root's home with one file per user id of a server, which lists the server's folders. */
const FOLDER = "users"
const MODE = 0o700

/**
 * Returns the registry's folder, or undefined if root cannot keep one: a read-only system, or a home that others can
 * write to.
 */
export const open = async (rootHome: string): Promise<string | undefined> => {
  try {
    return await RootFolder.make(path.join(await RootFolder.make(rootHome), FOLDER), MODE)
  } catch {
    return undefined
  }
}

const isMissing = (folder: string) =>
  fs.lstat(folder).then(
    () => false,
    (cause: NodeJS.ErrnoException) => cause.code === "ENOENT",
  )

const foldersOf = async (entry: string): Promise<ReadonlyArray<string>> =>
  (await fs.readFile(entry, "utf8").catch(() => "")).split("\n").filter((line) => line !== "")

const allMissing = async (folders: ReadonlyArray<string>): Promise<boolean> =>
  (await Promise.all(folders.map(isMissing))).every((missing) => missing)

/** Returns the id that is registered for the server of `folder`. Removes entries whose folders no longer exist. */
export const find = async (registry: string | undefined, folder: string): Promise<number | undefined> => {
  if (registry === undefined) return undefined
  let registered: number | undefined
  for (const name of await fs.readdir(registry)) {
    const id = Number(name)
    if (!Number.isInteger(id)) continue
    const entry = path.join(registry, name)
    const folders = await foldersOf(entry)
    if (folders[0] === folder) registered = id
    else if (await allMissing(folders)) await fs.rm(entry, { force: true })
  }
  return registered
}

/** Registers an id for the folders of one server. Returns false if another server has it. */
export const claim = async (registry: string, id: number, folders: ReadonlyArray<string>): Promise<boolean> => {
  const entry = path.join(registry, String(id))
  const draft = `${entry}.${process.pid}`
  await fs.writeFile(draft, folders.map((folder) => `${folder}\n`).join(""), { mode: 0o600 })
  try {
    // A link appears complete and only once.
    await fs.link(draft, entry)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause
    return (await foldersOf(entry))[0] === folders[0]
  } finally {
    await fs.rm(draft, { force: true })
  }
}

export const entryOf = (registry: string, id: number): string => path.join(registry, String(id))

export const release = (registry: string, id: number): Promise<void> => fs.rm(entryOf(registry, id), { force: true })
