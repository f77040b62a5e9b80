import * as fs from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Run } from "./run.ts"
import { run } from "./shell.ts"

const RELEASE = "bookworm"
const PACKAGES = ["systemd", "systemd-sysv", "dbus", "ca-certificates", "openssl"]

let made: Promise<string> | undefined

/**
 * The tree of a small Debian that systemd can boot, with the Node that runs this and its npm: a machine to install the
 * unit on, and where no registry of images can be reached, a stand-in for the image that the Dockerfile builds upon.
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

/** It asks the registry that npm asks here, and trusts whom Node trusts here. */
const npmrc = async (root: string): Promise<string> => {
  const registry = await run(["npm", "config", "get", "registry"])
  const authorities = await run(["sh", "-c", `printf %s "\${NODE_EXTRA_CA_CERTS:-}"`])
  if (authorities === "") return `registry=${registry}\n`
  await fs.copyFile(authorities, join(root, "etc/ssl/authorities.pem"))
  return `registry=${registry}\ncafile=/etc/ssl/authorities.pem\n`
}
