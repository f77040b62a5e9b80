import { execFileSync, spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { VerifyOptions } from "../../packages/verify/src/verify.ts"

const PROGRAM = fileURLToPath(new URL("verify_receipt.py", import.meta.url))
const NEEDED = [
  ["python3", "--version"],
  ["openssl", "version"],
] as const

export interface Asked extends VerifyOptions {
  readonly name: string
  readonly receipt: string
}

/** Returns what the verifier in Python says of each receipt, null if it holds; or why it cannot run here. */
export const askSecond = (cases: ReadonlyArray<Asked>): ReadonlyArray<string | null> | string => {
  for (const [command, flag] of NEEDED)
    if (spawnSync(command, [flag]).status !== 0) {
      const reason = `there is no ${command} on this machine`
      process.stderr.write(`The second verifier was skipped: ${reason}\n`)
      return reason
    }
  const output = execFileSync("python3", [PROGRAM], { input: JSON.stringify(cases), maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(output.toString()) as ReadonlyArray<string | null>
}
