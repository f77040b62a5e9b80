import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import * as path from "node:path"

/** Folders of administrators' programs, which PATH often leaves out. */
const FOLDERS = ["/usr/sbin", "/usr/local/sbin", "/sbin"]

/** Returns the path of a program of this machine. */
export const find = (name: string): string | undefined =>
  [...(process.env["PATH"] ?? "").split(path.delimiter), ...FOLDERS]
    .map((folder) => path.join(folder, name))
    .find(existsSync)

export interface Postfix {
  readonly version: string
  readonly postfix: string
  readonly daemons: string
}

/** Returns the Postfix of this machine, or why it cannot be measured. */
export const findPostfix = (): Postfix | string => {
  const postfix = find("postfix")
  const postconf = find("postconf")
  if (postfix === undefined || postconf === undefined) return "Postfix is not installed (apt-get install postfix)"
  // Its master process changes to other users.
  if (process.getuid?.() !== 0) return "Postfix starts for root only"
  const built = (name: string) => execFileSync(postconf, ["-d", "-h", name], { encoding: "utf8" }).trim()
  return { version: built("mail_version"), postfix, daemons: built("daemon_directory") }
}

/** Version of a program, from the first line that it prints. */
export const versionOf = (program: string): string =>
  /\d+(?:\.\d+)+/u.exec(execFileSync(program, ["-V"], { encoding: "utf8" }))?.[0] ?? "unknown"
