import type * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import { Duration } from "effect"
import type { NoDatabase } from "../../boot/Postgres.ts"
import { broken, type Finding, ok, warning } from "./Finding.ts"

/** What is tried: older ones lack what the schema uses, newer ones nobody has looked at. */
export const OLDEST_POSTGRES = 15
export const NEWEST_POSTGRES = 18
/** Scheduled mail is due by the database's clock and accepted by ours: beyond this the difference shows. */
export const SKEW_NOTICED = Duration.seconds(1)
/** Receivers of webhooks refuse a signature that is five minutes off; nobody's clocks are that wrong by accident. */
export const SKEW_BROKEN = Duration.minutes(1)

/** What the database says of itself. */
export const server = ({ forgetful, lacking, readOnly, version }: DatabaseExamination.Examined): Finding => {
  const major = Math.floor(version / 10_000)
  const name = `PostgreSQL ${major}.${version % 10_000}`
  if (major < OLDEST_POSTGRES) {
    return broken(
      "database",
      `${name}, which is too old`,
      `Move to PostgreSQL ${OLDEST_POSTGRES} to ${NEWEST_POSTGRES}.`,
    )
  }
  if (lacking.length > 0) {
    return broken(
      "database",
      `${name} without ${lacking.join(" and ")}`,
      "Install the extensions that belong to Postgres (package postgresql-contrib), or let your provider allow them.",
    )
  }
  if (readOnly) {
    return broken("database", `${name}, which takes no writes`, "Point DATABASE_URL at the primary, not at a standby.")
  }
  if (forgetful.length > 0) {
    const [which] = forgetful
    return warning(
      "database",
      `${name} with ${forgetful.join(" and ")} off: a crash of its machine can lose mail that was accepted`,
      `Switch ${which === undefined ? "it" : forgetful.join(" and ")} on in postgresql.conf.`,
    )
  }
  if (major > NEWEST_POSTGRES) {
    return warning(
      "database",
      `${name}, which this release was not tried with`,
      `Use PostgreSQL ${OLDEST_POSTGRES} to ${NEWEST_POSTGRES}, or look for a newer Waybill.`,
    )
  }
  return ok("database", name)
}

export const schema = ({ schema: { applied, pending } }: DatabaseExamination.Examined): Finding => {
  if (pending.length === 0) return ok("schema", `${applied.length} migrations, none pending`)
  if (applied.length === 0) {
    return warning("schema", "empty", "`waybill start` makes the schema; `waybill migrate` makes it and nothing else.")
  }
  return broken("schema", `pending: ${pending.join(", ")}`, "Run `waybill migrate`, or start this release once.")
}

/** Against the database's clock, and against the log: time has passed since its newest fact. */
export const clock = (examined: DatabaseExamination.Examined, now_ms: number): Finding => {
  const { newest_fact_ms, skew_ms, skew_within_ms } = examined
  const off = Math.max(0, Math.abs(skew_ms) - skew_within_ms)
  const words = `the database's clock is ${seconds(Math.abs(skew_ms))} ${skew_ms < 0 ? "behind" : "ahead of"} this machine's`
  const mend = "Keep both machines on NTP (`timedatectl set-ntp true`, or chrony) and look which of them is wrong."
  if (off > Duration.toMillis(SKEW_BROKEN)) return broken("clock", words, mend)
  const behind = (newest_fact_ms ?? 0) - (now_ms + skew_ms)
  if (behind > Duration.toMillis(SKEW_NOTICED)) {
    return broken(
      "clock",
      `the newest fact in the log was written ${seconds(behind)} in the future: the database's clock has gone back`,
      "Set the database machine's clock by NTP; leases and schedules stand still until it has caught up.",
    )
  }
  if (off > Duration.toMillis(SKEW_NOTICED)) return warning("clock", words, mend)
  return ok("clock", `within ${seconds(Math.abs(skew_ms) + skew_within_ms)} of the database's`)
}

const seconds = (millis: number): string => `${(millis / 1000).toFixed(millis < 10_000 ? 3 : 0)} s`

/** Before the first start nothing is wrong with that; where a service runs, it is not ours that is looked at. */
export const none = ({ folder }: NoDatabase): Finding =>
  warning(
    "database",
    `none: DATABASE_URL is not set, and ${folder} holds no embedded Postgres`,
    "Set what the service runs with, DATABASE_URL or WAYBILL_DATA; `waybill start` makes one there.",
  )

/** By Postgres' own code or the system's, what an operator does about a database that lets nobody in. */
export const unreachable = ({ code, message }: DatabaseExamination.Unreachable): Finding =>
  broken("database", `cannot be reached: ${message}`, CURES[code] ?? "Check DATABASE_URL, and that the server runs.")

const LOGIN = "Check user and password in DATABASE_URL, and pg_hba.conf on the server."
const CURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Nothing listens there: start Postgres, or correct host and port in DATABASE_URL.",
  ENOTFOUND: "The host of DATABASE_URL has no address: correct its name, or mend DNS.",
  EAI_AGAIN: "The host of DATABASE_URL could not be looked up: mend DNS, or write its address.",
  ETIMEDOUT: "No answer: a firewall may stand between, or listen_addresses leaves that network out.",
  ENOENT: "There is no such socket: start Postgres, or correct the folder in DATABASE_URL.",
  "28000": LOGIN,
  "28P01": LOGIN,
  "3D000": "Create the database that DATABASE_URL names.",
  "53300": "It has no connection left: raise max_connections, or lower DATABASE_CONNECTIONS.",
  "57P03": "It is starting or stopping: wait a moment and ask again.",
}
