import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "./Manifest.ts"

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
}

const RULE = "-".repeat(80)

/** Returns the name, version and licence text of each package whose code may be in the bundle or the dashboard. */
export const notices = (): string => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  return Object.entries(packages)
    .filter(([path, { dev, link, optional }]) => path.includes("node_modules/") && !dev && !link && !optional)
    .filter(([path]) => existsSync(join(ROOT, path)))
    .map(([path, { license = "", version = "" }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
      const texts = readdirSync(join(ROOT, path))
        .filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/iu.test(file))
        .map((file) => readFileSync(join(ROOT, path, file), "utf8").trim())
      return [`${name} ${version} (${license})`, ...texts].join("\n\n")
    })
    .join(`\n\n${RULE}\n\n`)
}
