import { fileURLToPath } from "node:url"
import { TABLE } from "../../apps/server/src/settings/Settings.ts"

/** docs/configuration.md is written from the settings themselves; a test holds it current. */
export const FILE = fileURLToPath(new URL("../../docs/configuration.md", import.meta.url))

export const render = (): string => {
  const rows = Object.values(TABLE).map(
    ({ fallback, meaning, name, secret }) =>
      `| \`${name}\`${secret ? " (secret)" : ""} | ${fallback === null ? "unset" : fallback} | ${meaning.replaceAll("|", "\\|")} |`,
  )
  return [
    "# Configuration",
    "",
    "<!-- Written by scripts/configuration.ts from apps/server/src/settings/Settings.ts. -->",
    "",
    "Everything is set by environment variables, and everything has a default. `npx waybill config` shows what is set here",
    "and now; a wrong value is named, with what it should be, before anything starts.",
    "",
    "| variable | default | meaning |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n")
}
