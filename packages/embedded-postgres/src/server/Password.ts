import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as Placement from "../ownership/Placement.ts"

const FILE = "password"
const FILE_MODE = 0o600
/** Enough to prevent guessing. The encoding needs no escaping in a URL. */
const RANDOM_BYTES = 24

export interface Password {
  readonly text: string
  /** Whether the password was just created, so that an existing cluster must be changed to it. */
  readonly isNew: boolean
}

const fileOf = (placement: Placement.Placement) => path.join(placement.folder, FILE)
const draftOf = (placement: Placement.Placement) => `${fileOf(placement)}.new`

/** Returns the folder's password. A new one is a draft until the cluster uses it. */
export const find = async (placement: Placement.Placement): Promise<Password> => {
  const file = fileOf(placement)
  const stored = await fs.readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return ""
    throw cause
  })
  if (stored.trim() !== "") {
    await fs.chmod(file, FILE_MODE)
    return { text: stored.trim(), isNew: false }
  }
  const text = randomBytes(RANDOM_BYTES).toString("base64url")
  const draft = draftOf(placement)
  await fs.rm(draft, { force: true })
  await fs.writeFile(draft, `${text}\n`, { mode: FILE_MODE, flush: true })
  await Placement.handOver(placement, draft)
  return { text, isNew: true }
}

/** Makes a new password permanent once the cluster uses it. A start that ends earlier creates another one next time. */
export const keep = async (placement: Placement.Placement, password: Password): Promise<void> => {
  if (password.isNew) await fs.rename(draftOf(placement), fileOf(placement))
}
