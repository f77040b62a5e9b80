import * as Availability from "@waybill/store/availability/Availability"
import * as DatabaseUrl from "@waybill/store/postgres/DatabaseUrl"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import { Config, Duration, Result } from "effect"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { mapped, secretIfSet, setting, textIfSet, whole } from "./Setting.ts"

const CHECKOUT = fileURLToPath(new URL("../../../../", import.meta.url))

/** Two full years besides the current month, so that every month can be compared with the same one of two years before. */
export const DEFAULT_STATS_MONTHS = 25
/** The range of one statistics request. */
export const MIN_STATS_MONTHS = 13
export const MAX_STATS_MONTHS = 240
export const DEFAULT_REQUEST_LOG_DAYS = 7
export const MAX_REQUEST_LOG_DAYS = 90
export const DEFAULT_DOMAIN_REPORT_DAYS = 90
/** Longer than reports are accepted, so that a replay finds its original. */
export const MIN_DOMAIN_REPORT_DAYS = 30
export const MAX_DOMAIN_REPORT_DAYS = 400
export const MAX_BACKUP_HOURS = 7 * 24
export const MAX_BACKUPS = 1_000
/** Longer than any failover; beyond it clients have given up. */
export const MAX_DATABASE_TIMEOUT_SECONDS = 60

const keyProblem = (text: string): string | undefined =>
  Result.match(InstanceKey.parse(text), { onFailure: ({ message }) => message, onSuccess: () => undefined })

/** Settings of the database and of the data folder. */
export const TABLE = {
  data: setting(
    "WAYBILL_DATA",
    "Folder of the embedded Postgres and the instance key.",
    ".waybill in the checkout; in the current folder if Waybill is an npm package",
    Config.String("WAYBILL_DATA").pipe(
      Config.withDefault(".waybill"),
      Config.map((path) => resolve(CHECKOUT, path)),
    ),
  ),
  postgres: textIfSet(
    "WAYBILL_POSTGRES",
    "Folder (containing bin) of an installed Postgres 17 or 18 to run instead of the one from npm.",
  ),
  databaseUrl: secretIfSet(
    "DATABASE_URL",
    "Connection URL of a Postgres (15 to 18) to use instead of the embedded one.",
    DatabaseUrl.problemOf,
  ),
  databaseReplicaUrl: secretIfSet(
    "DATABASE_REPLICA_URL",
    "Connection URL of a streaming replica of DATABASE_URL. Used for log reads once it has caught up with your own writes.",
    DatabaseUrl.problemOf,
  ),
  databaseConnections: whole(
    "DATABASE_CONNECTIONS",
    "Maximum number of connections of this process to Postgres, from 2 to 500.",
    10,
    { minimum: 2, maximum: 500 },
  ),
  databaseTimeout: mapped(
    whole(
      "DATABASE_TIMEOUT",
      "Seconds that a request waits for a database that does not answer, from 1 to 60. After that, requests get 503 at once until a test write succeeds.",
      Duration.toSeconds(Availability.DEFAULT_TIMEOUT),
      { minimum: 1, maximum: MAX_DATABASE_TIMEOUT_SECONDS },
    ),
    Duration.seconds,
  ),
  instanceKey: secretIfSet(
    "WAYBILL_INSTANCE_KEY",
    "Key of 32 bytes in base64 that encrypts private keys and secrets.",
    keyProblem,
    "the file instance.key in WAYBILL_DATA, made at the first start",
  ),
  backupTo: textIfSet(
    "BACKUP_TO",
    "Folder in which a process with the role worker makes backups. Set it for one process only.",
  ),
  backupEvery: mapped(
    whole("BACKUP_EVERY", `Hours from one backup in BACKUP_TO to the next, from 1 to ${MAX_BACKUP_HOURS}.`, 24, {
      minimum: 1,
      maximum: MAX_BACKUP_HOURS,
    }),
    Duration.hours,
  ),
  backupKeep: whole("BACKUP_KEEP", `Number of backups that are kept in BACKUP_TO, from 1 to ${MAX_BACKUPS}.`, 7, {
    minimum: 1,
    maximum: MAX_BACKUPS,
  }),
  statsMonths: whole(
    "STATS_MONTHS",
    "Full months for which statistics are kept, besides the current one, from 13 to 240.",
    DEFAULT_STATS_MONTHS,
    { minimum: MIN_STATS_MONTHS, maximum: MAX_STATS_MONTHS },
  ),
  requestLogDays: whole(
    "REQUEST_LOG_DAYS",
    "Full days for which API requests are kept in the request log, besides the current one, up to 90. 0 turns the log off.",
    DEFAULT_REQUEST_LOG_DAYS,
    { minimum: 0, maximum: MAX_REQUEST_LOG_DAYS },
  ),
  domainReportDays: whole(
    "DOMAIN_REPORT_DAYS",
    `Days for which aggregate reports of DMARC and TLS about domains are kept, from ${MIN_DOMAIN_REPORT_DAYS} to ${MAX_DOMAIN_REPORT_DAYS}.`,
    DEFAULT_DOMAIN_REPORT_DAYS,
    { minimum: MIN_DOMAIN_REPORT_DAYS, maximum: MAX_DOMAIN_REPORT_DAYS },
  ),
} as const
