import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import { run } from "./Shell.ts"

/** Copies the files that a clone would have, without anything installed or built. */
export const checkout = async (to: string): Promise<void> => {
  const listed = await run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
  for (const file of listed.split("\0").filter((each) => each !== "")) {
    await fs.mkdir(dirname(join(to, file)), { recursive: true })
    await fs.copyFile(file, join(to, file))
  }
}
