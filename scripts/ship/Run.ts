import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Run {
  /** Folder for all files of this run, which is removed at the end. */
  readonly scratch: string
  readonly ends: AsyncDisposableStack
  /** The base image, which an engine on this machine has or can pull. */
  readonly base: string | undefined
  /** Whether to build the base image from Debian and this Node. */
  readonly standIn: boolean
  readonly holds: (fact: string) => void
  readonly leftOut: (what: string, reason: string) => void
}

/** Makes a folder that other users can enter, because Postgres and the service do not run as root. */
export const makeScratch = async (ends: AsyncDisposableStack): Promise<string> => {
  const folder = await fs.mkdtemp(join(tmpdir(), "waybill-ship-"))
  await fs.chmod(folder, 0o711)
  ends.defer(() => fs.rm(folder, { recursive: true, force: true }))
  return folder
}
