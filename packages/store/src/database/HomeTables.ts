/** Tables that belong to no account, or that find one. They stay in the schema of the first cell; all others are in every cell. */
export const HOME_TABLES: ReadonlySet<string> = new Set([
  "account_cells",
  "account_names",
  "cells",
  "event_kinds",
  "log_epochs",
  "log_keys",
  "mta_sts_policies",
  "nodes",
  "processes",
  "provider_events",
  "provider_hooks",
  "rate_windows",
  "saved_views",
  "request_log_counts",
  "schema_migrations",
  "source_addresses",
  "source_assignments",
  "source_counts",
  "source_hosts",
  "source_pauses",
  "source_pools",
  "user_credentials",
  "user_passkeys",
  "user_rate_limits",
  "user_sessions",
  "user_two_factors",
  "user_verifications",
  "users",
  "warm_up_plans",
])

/** Those that a server of a cell has as well, and a cell on a node of Citus for itself: what processes, windows and the log need there. */
export const OF_EVERY_SERVER: ReadonlySet<string> = new Set([
  "log_epochs",
  "processes",
  "rate_windows",
  "schema_migrations",
])

/** Those that no other server has, so that a statement that needs one of them there fails instead of finding nothing. */
export const ONLY_HOME: ReadonlyArray<string> = [...HOME_TABLES].filter((table) => !OF_EVERY_SERVER.has(table))
