import { fileURLToPath } from "node:url"
import { GROUPS, TABLE } from "../../apps/server/src/settings/Settings.ts"

/** docs/configuration.md is written from the settings themselves; a test holds it current. */
export const FILE = fileURLToPath(new URL("../../docs/configuration.md", import.meta.url))

const rowOf = ({ fallback, meaning, name, secret }: (typeof TABLE)[keyof typeof TABLE]): string =>
  `| \`${name}\`${secret ? " (secret)" : ""} | ${fallback === null ? "unset" : fallback} | ${meaning.replaceAll("|", "\\|")} |`

export const render = (): string => {
  const settings = Object.values(TABLE)
  const groups = GROUPS.flatMap(([title, names]) => [
    "",
    `## ${title}`,
    "",
    "| variable | default | meaning |",
    "|---|---|---|",
    ...settings.filter(({ name }) => names.includes(name)).map(rowOf),
  ])
  return [
    "# Configuration",
    "",
    "<!-- Written by npm run generate from apps/server/src/settings/Settings.ts. -->",
    "",
    "Everything is set by environment variables, and everything has a default. `npx waybill config` shows what is set in",
    "this shell, and with `--all` every setting; what a service that runs on the same `WAYBILL_DATA` has otherwise, it names in a",
    "line, and operators see it in the dashboard (Instance, Configuration). A wrong value is named, with what it should be, before",
    "anything starts. Most instances set `BASE_URL`, `DATABASE_URL`, `TRANSPORT` and, for a relay, `SMTP_URL`.",
    ...groups,
    "",
  ].join("\n")
}
