import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { bundledPackages } from "./lockedPackages.ts"

const RULE = "-".repeat(80)

/** Returns the name, version and licence text of each package whose code may be in the bundle or the dashboard. */
export const notices = (): string =>
  bundledPackages()
    .map(({ folder, license, name, version }) => {
      const texts = readdirSync(folder)
        .filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/iu.test(file))
        .map((file) => readFileSync(join(folder, file), "utf8").trim())
      return [`${name} ${version} (${license})`, ...texts].join("\n\n")
    })
    .join(`\n\n${RULE}\n\n`)
