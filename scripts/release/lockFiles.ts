import { globSync } from "node:fs"

const PATTERNS = ["{.,runtime}/package-lock.json", "test/**/package-lock.json"]

/** Returns the lock files of a checkout, without those of installed packages. */
export const lockFiles = (root: string): ReadonlyArray<string> =>
  globSync(PATTERNS, { cwd: root, exclude: (name) => name === "node_modules" }).toSorted()
