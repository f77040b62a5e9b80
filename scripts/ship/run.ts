import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Run {
  /** Everything that is made for this run; what is in it goes when it ends. */
  readonly scratch: string
  readonly ends: AsyncDisposableStack
  /** The image to build upon: one that an engine here has, or can pull. */
  readonly base: string | undefined
  /** Whether that image is made of Debian and the Node that runs this. */
  readonly standIn: boolean
  readonly holds: (fact: string) => void
  readonly leftOut: (what: string, why: string) => void
}

/** A folder that other users may pass through: Postgres and the service are none of root. */
export const makeScratch = async (ends: AsyncDisposableStack): Promise<string> => {
  const folder = await fs.mkdtemp(join(tmpdir(), "waybill-ship-"))
  await fs.chmod(folder, 0o711)
  ends.defer(() => fs.rm(folder, { recursive: true, force: true }))
  return folder
}
