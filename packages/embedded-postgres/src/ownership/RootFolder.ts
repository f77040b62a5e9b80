import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Failure from "../system/Failure.ts"

/** Others can enter but not list it; each server's folder below is closed to all but that server. */
export const PASSAGE_MODE = 0o711
const WRITABLE_BY_OTHERS = 0o022

/** Fails unless this is a folder that only root can write to. */
export const trusted = async (folder: string): Promise<string> => {
  const stat = await fs.lstat(folder)
  if (!stat.isDirectory() || stat.uid !== 0 || (stat.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new Failure.NotStarted({
      reason: `${folder} must be a folder that belongs to root and that no other user can write to.`,
      detail: "",
    })
  }
  return folder
}

/** Creates a folder that only root can write to. An existing one must already be so. */
export const make = async (folder: string, mode = PASSAGE_MODE): Promise<string> => {
  await fs.mkdir(path.dirname(folder), { recursive: true })
  await fs.mkdir(folder, { mode }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause
  })
  await trusted(folder)
  await fs.chmod(folder, mode)
  return folder
}
