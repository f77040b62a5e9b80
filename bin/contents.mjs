import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { root } from "./install.mjs"

/**
 * Returns a hash of the contents of files and folders. Modification times would not do: a checkout sets them to the
 * current time.
 */
export function contentsOf(paths) {
  const hash = createHash("sha256")
  for (const file of paths.flatMap(filesOf))
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0")
  return hash.digest("hex")
}

/** Lists files recursively. Three times as fast as `recursive` of `readdirSync`, and every command runs it. */
function filesOf(path) {
  if (!existsSync(path)) return []
  try {
    const entries = readdirSync(path, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1))
    return entries.flatMap((entry) => (entry.isFile() ? [join(path, entry.name)] : filesOf(join(path, entry.name))))
  } catch (error) {
    if (error.code !== "ENOTDIR") throw error
    return [path]
  }
}
