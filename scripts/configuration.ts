import { TABLE } from "../apps/server/src/Settings.ts"
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** File that is generated from the table of settings. A test compares both. */
export const FILE = fileURLToPath(new URL("../docs/configuration.md", import.meta.url))

export const render = (): string => {
  const rows = Object.values(TABLE).map(
    ({ fallback, meaning, name, secret }) =>
      `| \`${name}\`${secret ? " (secret)" : ""} | ${fallback === null ? "unset" : fallback} | ${meaning.replaceAll("|", "\\|")} |`,
  )
  return [
    "# Configuration",
    "",
    "<!-- Written by scripts/configuration.ts from apps/server/src/Settings.ts. -->",
    "",
    "Settings are environment variables, and each has a default. `npx waybill config` shows the values in use. At the start",
    "Waybill checks all of them and names each wrong one, with what it should be.",
    "",
    "| variable | default | meaning |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n")
}

if (import.meta.main) writeFileSync(FILE, render())
