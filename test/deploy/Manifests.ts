import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAllDocuments } from "yaml"
import type { Helm } from "./helm/Helm.ts"

const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url))

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  // Tests read manifests of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any
}

/** Reads the documents of rendered templates. */
export const parse = (yaml: string): ReadonlyArray<Manifest> =>
  parseAllDocuments(yaml, { uniqueKeys: true, strict: true })
    .map((document) => {
      const [error] = document.errors
      if (error !== undefined) throw error
      return document.toJS() as Manifest | null
    })
    .filter((manifest) => manifest !== null)

const packageOf = ({ apiVersion }: Manifest): string =>
  apiVersion.startsWith("monitoring.coreos.com/") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models"

/**
 * Checks manifests against the API of Kubernetes: fields, types and required fields. Its schemas allow unknown fields,
 * so the manifests are compiled as literals of its types, which do not. Returns what the compiler reports.
 */
export const problems = async (helm: Helm, manifests: ReadonlyArray<Manifest>): Promise<string> => {
  const lines = manifests.map(
    (manifest, nth) =>
      `export const manifest${nth}: import("${packageOf(manifest)}/${manifest.apiVersion}").I${manifest.kind} = ${JSON.stringify(manifest)}`,
  )
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  }
  const folder = await fs.mkdtemp(join(helm.home, "types-"))
  await fs.writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  await fs.writeFile(join(folder, "manifests.ts"), lines.join("\n"))
  await fs.writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["manifests.ts"] }))
  return new Promise((resolve) => {
    execFile(process.execPath, [TSC, "-p", folder], { cwd: folder }, (_, stdout) => resolve(stdout))
  })
}
