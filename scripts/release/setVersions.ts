import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { lockFiles } from "./lockFiles.ts"
import type { Version } from "./Version.ts"

/** Manifests of the project, without those of installed packages. */
const MANIFESTS = ["{.,runtime}/package.json", "{apps,packages}/*/package.json", "test/**/package.json"]

/** Other files that state the version, each with what stands before it, and the language whose spelling it has. */
const STATED: ReadonlyArray<readonly [file: string, before: string, spelling: "text" | "python" | "ruby"]> = [
  ["deploy/helm/waybill/Chart.yaml", "\nversion: ", "text"],
  ["deploy/helm/waybill/Chart.yaml", "\nappVersion: ", "text"],
  ["docs/operating/kubernetes.md", "waybill:", "text"],
  ["docs/start.md", "waybill-", "text"],
  ["packages/client-go/README.md", "waybill@v", "text"],
  ["packages/client-php/composer.json", '"version": "', "text"],
  ["packages/client-python/pyproject.toml", '\nversion = "', "python"],
  ["packages/client-ruby/waybill.gemspec", 'gem.version = "', "ruby"],
  ["packages/client/README.md", "waybill-client-", "text"],
  ["packages/nodemailer-transport/README.md", "waybill-nodemailer-transport-", "text"],
  ["packages/nodemailer-transport/src/WaybillTransport.ts", 'VERSION = "', "text"],
  ["packages/redirect/README.md", "waybill-redirect-", "text"],
  ["packages/testing/README.md", "waybill/waybill-", "text"],
  ["packages/testing/README.md", "waybill-testing-", "text"],
  ["packages/verify/README.md", "waybill-verify-", "text"],
]

interface Locked {
  version?: string
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const isOwn = (name: string): boolean => name === "waybill" || name.startsWith("@waybill/")

const manifests = (root: string): ReadonlyArray<string> =>
  globSync(MANIFESTS, { cwd: root, exclude: (name) => name === "node_modules" })

const rewrite = (root: string, file: string, change: (text: string) => string): void => {
  const text = readFileSync(join(root, file), "utf8")
  const changed = change(text)
  if (changed === text) throw new Error(`${file} does not state the version of now`)
  writeFileSync(join(root, file), changed)
}

/** Changes a lock file as JSON: packages of others may have the same version by chance. */
const inLock = (from: string, to: string) => (text: string) => {
  const lock = JSON.parse(text) as { version: string; packages: Record<string, Locked> }
  lock.version = to
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (path.includes("node_modules/")) continue
    if (locked.version === from) locked.version = to
    for (const needs of [locked.dependencies, locked.peerDependencies])
      for (const [name, range] of Object.entries(needs ?? {}))
        if (needs !== undefined && isOwn(name)) needs[name] = range.replace(from, to)
  }
  return `${JSON.stringify(lock, undefined, 2)}\n`
}

const inManifest = (from: string, to: string) => (text: string) =>
  text
    .replace(`"version": "${from}"`, `"version": "${to}"`)
    .replaceAll(/"(waybill|@waybill\/[\w-]+)": "(\^?)([^"]+)"/gu, (whole, name, caret, range) =>
      range === from ? `"${name}": "${caret}${to}"` : whole,
    )

/** Puts a version in the place of another one, in every file of a checkout that states it. */
export const setVersions = (root: string, from: Version, to: Version): void => {
  for (const file of manifests(root)) rewrite(root, file, inManifest(from.text, to.text))
  for (const file of lockFiles(root)) rewrite(root, file, inLock(from.text, to.text))
  for (const [file, before, spelling] of STATED)
    rewrite(root, file, (text) => text.replaceAll(`${before}${from[spelling]}`, `${before}${to[spelling]}`))
}
