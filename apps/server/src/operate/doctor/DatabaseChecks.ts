import * as Table from "@waybill/domain/values/Table"
import type * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import * as DirectoryAudit from "@waybill/store/recovery/DirectoryAudit"
import { LATE_AFTER } from "@waybill/store/operations/ExaminedCell"
import * as Reachable from "@waybill/store/routing/Reachable"
import { Duration } from "effect"
import type { NoDatabase } from "../../installation/Postgres.ts"
import * as Finding from "./Finding.ts"

const databaseFinding = Finding.of("database")
const schemaFinding = Finding.of("schema")
const nodesFinding = Finding.of("nodes")
const cellsFinding = Finding.of("cells")
const clockFinding = Finding.of("clock")

/** Range of tested versions. The schema uses features that older ones do not have. */
export const OLDEST_POSTGRES = 15
export const NEWEST_POSTGRES = 18
/** Difference of the clocks above which scheduled mail is noticeably early or late. */
export const SKEW_NOTICED = Duration.seconds(1)
/** Difference of the clocks above which the check fails. Receivers of webhooks refuse signatures that are minutes off. */
export const SKEW_BROKEN = Duration.minutes(1)

/** Checks version, extensions and settings of the server. */
export const server = ({
  unsafeSettings,
  missingExtensions,
  readOnly,
  version,
}: DatabaseExamination.DatabaseFindings): Finding.Finding => {
  const major = Math.floor(version / 10_000)
  const name = `PostgreSQL ${major}.${version % 10_000}`
  if (major < OLDEST_POSTGRES)
    return databaseFinding.broken(`${name} is too old`, `Move to PostgreSQL ${OLDEST_POSTGRES} to ${NEWEST_POSTGRES}.`)
  if (missingExtensions.length > 0)
    return databaseFinding.broken(
      `${name} without ${missingExtensions.join(" and ")}`,
      "Install the extensions of Postgres (package postgresql-contrib), or enable them at your provider.",
    )
  if (readOnly)
    return databaseFinding.broken(`${name} is read-only`, "Point DATABASE_URL at the primary, not at a standby.")
  if (unsafeSettings.length > 0)
    return databaseFinding.warning(
      `${name} with ${unsafeSettings.join(" and ")} off: a crash of its machine can lose accepted mail`,
      `Turn ${unsafeSettings.join(" and ")} on in postgresql.conf.`,
    )
  if (major > NEWEST_POSTGRES)
    return databaseFinding.warning(
      `${name} was not tested with this release`,
      `Use PostgreSQL ${OLDEST_POSTGRES} to ${NEWEST_POSTGRES}, or a newer Waybill.`,
    )
  return databaseFinding.ok(name)
}

export const schema = ({ schema: { applied, pending } }: DatabaseExamination.DatabaseFindings): Finding.Finding => {
  if (pending.length === 0) return schemaFinding.ok(`${applied.length} migrations, none pending`)
  if (applied.length === 0)
    return schemaFinding.warning(
      "empty",
      "`waybill start` creates the schema; `waybill migrate` creates it without starting the service.",
    )
  return schemaFinding.broken(`pending: ${pending.join(", ")}`, "Run `waybill migrate`, or start this release once.")
}

/** Names the nodes of an older release, for which the features of a newer one wait. */
export const nodes = ({ nodes: running }: DatabaseExamination.DatabaseFindings): Finding.Finding => {
  const releases = [...new Set(running.map(({ release }) => release))].join(", ")
  if (running.length === 0) return nodesFinding.ok("none running")
  const old = running.filter(({ lacks }) => lacks.length > 0)
  const kinds = [...new Set(old.flatMap(({ lacks }) => lacks))].join(", ")
  if (old.length === 0) return nodesFinding.ok(`${running.length} running (release ${releases})`)
  return nodesFinding.warning(
    `an upgrade is in progress: ${old.map(({ id, release }) => `${id} (release ${release})`).join(", ")} cannot read ${kinds}`,
    "Stop the nodes of the older release. Until then, requests that need these events are answered 503.",
  )
}

/**
 * Names the cells that do not answer, of whose accounts home says something else, or that are behind or late. What the other checks say
 * of domains leaves those out that do not answer.
 */
export const cells = (
  { cells, unreachable_cells }: DatabaseExamination.DatabaseFindings,
  differences: ReadonlyArray<DirectoryAudit.Differences>,
): Finding.Finding => {
  if (unreachable_cells.length === 0) return differences.length === 0 ? answering(cells) : differing(differences)
  const named = unreachable_cells.map(({ message, name }) => `${name} does not answer (${message})`).join("; ")
  return cellsFinding.broken(
    `${named}; its accounts are answered 503, and its domains are not checked here`,
    `Start its server or restore its network; \`waybill cells list\` shows where each cell lies. ${Reachable.ifLost(unreachable_cells.map(({ name }) => name))}`,
  )
}

const differing = (differences: ReadonlyArray<DirectoryAudit.Differences>) =>
  cellsFinding.broken(
    differences.map((each) => `${each.cell}: ${DirectoryAudit.describe(each)}`).join(". "),
    "`waybill cells check` says what to do, if home was restored from a backup.",
  )

const answering = (cells: DatabaseExamination.DatabaseFindings["cells"]): Finding.Finding => {
  const behind = cells.filter(({ pending }) => pending.length > 0)
  if (behind.length > 0)
    return cellsFinding.broken(
      behind
        .map(({ name, pending }) => `${name} lacks migrations (${pending.join(", ")}), so it is not served`)
        .join("; "),
      "A process of this release migrates it when it next uses it; its log says why it cannot.",
    )
  const late = cells.flatMap(({ lag_s, name, overdue }) => {
    const what = [
      ...(overdue > 0 ? [`${overdue} rows of its outbox are overdue`] : []),
      ...(lag_s > Duration.toSeconds(LATE_AFTER) ? [`its statistics are ${Math.round(lag_s)} s behind`] : []),
    ]
    return what.length === 0 ? [] : [`${name}: ${what.join(" and ")}`]
  })
  if (late.length > 0)
    return cellsFinding.warning(
      late.join("; "),
      "Start a `worker`, or more of them; `waybill cells list` shows the load of each cell.",
    )
  return cellsFinding.ok(cells.length === 1 ? "1" : `${cells.length}, all answer`)
}

/** Compares the clock of the database with that of this machine, and with the newest event in the log. */
export const clock = (examined: DatabaseExamination.DatabaseFindings, now_ms: number): Finding.Finding => {
  const { newest_fact_ms, skew_ms, skew_within_ms } = examined
  const off = Math.max(0, Math.abs(skew_ms) - skew_within_ms)
  const result = `the database's clock is ${seconds(Math.abs(skew_ms))} ${skew_ms < 0 ? "behind" : "ahead of"} this machine's`
  const fix = "Synchronize both machines by NTP (`timedatectl set-ntp true`, or chrony)."
  if (off > Duration.toMillis(SKEW_BROKEN)) return clockFinding.broken(result, fix)
  const behind = (newest_fact_ms ?? 0) - (now_ms + skew_ms)
  if (behind > Duration.toMillis(SKEW_NOTICED))
    return clockFinding.broken(
      `the newest event in the log is ${seconds(behind)} in the future: the database's clock was set back`,
      "Synchronize the database machine by NTP; leases and schedules stand still until its clock has caught up.",
    )
  if (off > Duration.toMillis(SKEW_NOTICED)) return clockFinding.warning(result, fix)
  return clockFinding.ok(`within ${seconds(Math.abs(skew_ms) + skew_within_ms)} of the database's`)
}

const seconds = (millis: number): string => `${(millis / 1000).toFixed(millis < 10_000 ? 3 : 0)} s`

/** Finding if there is no database: normal before the first start, otherwise the settings are not those of the service. */
export const none = ({ folder }: NoDatabase): Finding.Finding =>
  databaseFinding.warning(
    `none: DATABASE_URL is not set, and ${folder} has no embedded Postgres`,
    "Set DATABASE_URL or WAYBILL_DATA as for the service; `waybill start` creates a database there.",
  )

/** Finding for a database that cannot be reached, with a fix for its error code. */
export const unreachable = ({ code, message }: DatabaseExamination.Unreachable): Finding.Finding =>
  databaseFinding.broken(
    `cannot be reached: ${message}`,
    Table.at(FIXES, code) ?? "Check DATABASE_URL, and that the server is running.",
  )

const LOGIN = "Check user and password in DATABASE_URL, and pg_hba.conf on the server."
const FIXES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Nothing listens there: start Postgres, or correct host and port in DATABASE_URL.",
  ENOTFOUND: "The host of DATABASE_URL has no address: correct its name, or fix DNS.",
  EAI_AGAIN: "The host of DATABASE_URL could not be resolved: fix DNS, or use its address.",
  ETIMEDOUT: "No answer: check firewalls, and listen_addresses of Postgres.",
  ENOENT: "There is no such socket: start Postgres, or correct the folder in DATABASE_URL.",
  "28000": LOGIN,
  "28P01": LOGIN,
  "3D000": "Create the database that DATABASE_URL names.",
  "53300": "No connections left: raise max_connections, or lower DATABASE_CONNECTIONS.",
  "57P03": "Postgres is starting or stopping: wait a moment and check again.",
}
