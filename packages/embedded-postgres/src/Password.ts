import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Placement from "./Placement.ts"

const FILE = "password"
const FILE_MODE = 0o600
/** As many as a guess by brute force can never reach, in letters that need no escaping in a URL. */
const RANDOM_BYTES = 24

export interface Password {
  readonly text: string
  /** There was none: a cluster that is already there has to be told. */
  readonly isNew: boolean
}

const fileOf = (place: Placement.Placement) => path.join(place.folder, FILE)
const draftOf = (place: Placement.Placement) => `${fileOf(place)}.new`

/** The folder's password; a new one is a draft until the cluster knows it. */
export const find = async (place: Placement.Placement): Promise<Password> => {
  const file = fileOf(place)
  const known = await fs.readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return ""
    throw cause
  })
  if (known.trim() !== "") {
    await fs.chmod(file, FILE_MODE)
    return { text: known.trim(), isNew: false }
  }
  const text = randomBytes(RANDOM_BYTES).toString("base64url")
  const draft = draftOf(place)
  await fs.rm(draft, { force: true })
  await fs.writeFile(draft, `${text}\n`, { mode: FILE_MODE, flush: true })
  await Placement.handOver(place, draft)
  return { text, isNew: true }
}

/** The cluster knows it. A start that ended before this makes another one, and tells the cluster that. */
export const keep = async (place: Placement.Placement, password: Password): Promise<void> => {
  if (password.isNew) await fs.rename(draftOf(place), fileOf(place))
}
