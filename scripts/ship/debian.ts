import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Run } from "./Run.ts"
import { run } from "./Shell.ts"

const RELEASE = "bookworm"
const PACKAGES = ["systemd", "systemd-sysv", "dbus", "ca-certificates", "openssl"]

let made: Promise<string> | undefined

/**
 * Builds a small Debian with systemd, this Node and its npm. It serves as the machine for the unit, and as the base
 * image where no image registry can be reached.
 */
export const debian = (run: Run): Promise<string> => (made ??= make(run))

const make = async ({ scratch }: Run): Promise<string> => {
  const root = join(scratch, "debian")
  await run(["debootstrap", "--variant=minbase", `--include=${PACKAGES.join(",")}`, RELEASE, root])
  await run(["chroot", root, "apt-get", "clean"])
  await installNode(root)
  return root
}

const installNode = async (root: string): Promise<void> => {
  const local = join(root, "usr/local")
  const npm = dirname(dirname(await run(["sh", "-c", `readlink -f "$(command -v npm)"`])))
  await fs.copyFile(process.execPath, join(local, "bin/node"))
  await fs.cp(npm, join(local, "lib/node_modules/npm"), { recursive: true })
  for (const name of ["npm", "npx"])
    await fs.symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, "bin", name))
  await fs.mkdir(join(local, "etc"), { recursive: true })
  await fs.writeFile(join(local, "etc/npmrc"), await npmrc(root))
}

/** Returns an npmrc with the local registry and certificate authorities. */
const npmrc = async (root: string): Promise<string> => {
  const registry = await run(["npm", "config", "get", "registry"])
  const authorities = await run(["sh", "-c", `printf %s "\${NODE_EXTRA_CA_CERTS:-}"`])
  if (authorities === "") return `registry=${registry}\n`
  await fs.copyFile(authorities, join(root, "etc/ssl/authorities.pem"))
  return `registry=${registry}\ncafile=/etc/ssl/authorities.pem\n`
}
