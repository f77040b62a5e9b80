// npm run advisories: runs npm audit on the lock files, and fails on high and critical advisories.
import { spawnSync } from "node:child_process"
import { dirname } from "node:path"
import { lockFiles } from "./release/lockFiles.ts"

/** Packages of other services, which only tests install. Old ones have known advisories (docs/decisions/0006). */
const LEFT_OUT = ["test/clients/frameworks", "test/clients/npm"]

const failed = lockFiles(".")
  .map((file) => dirname(file))
  .filter((folder) => !LEFT_OUT.includes(folder))
  .filter((cwd) => {
    process.stdout.write(`${cwd}\n`)
    const { status } = spawnSync("npm", ["audit", "--package-lock-only", "--audit-level=high"], {
      cwd,
      stdio: "inherit",
    })
    return status !== 0
  })
if (failed.length > 0) process.stderr.write(`npm audit failed in ${failed.join(", ")}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
