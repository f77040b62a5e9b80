import { totalmem } from "node:os"

/** Stands in the command line, by which a server of ours is known from any other. */
export const CLUSTER_NAME = "waybill"

/** What a mail service of one machine wants. Given on the command line, so an upgrade of the code is an upgrade of these. */
export const SETTINGS: Readonly<Record<string, string>> = {
  cluster_name: CLUSTER_NAME,
  max_connections: "100",
  synchronous_commit: "on",
  max_wal_size: "2GB",
  // Queue tables live by small, frequent vacuums.
  autovacuum_naptime: "10s",
  // Statements here are short: compiling them costs more than running them.
  jit: "off",
  random_page_cost: "1.1",
  timezone: "UTC",
  log_timezone: "UTC",
  log_destination: "stderr",
  logging_collector: "off",
  log_line_prefix: "%m [%p] %a ",
  log_checkpoints: "off",
  log_lock_waits: "on",
}

export const LEAST_SHARED_BUFFERS_MB = 128
export const MOST_SHARED_BUFFERS_MB = 2048
const SHARE_OF_MEMORY = 8
const MB = 1024 * 1024

/** What a container may use, where there is one, and else what the machine has. */
const memory = (): number => {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

/** An eighth, for the service lives beside it, and the system's own cache. Taken as it is filled, not before. */
export const sharedBuffers = (bytes = memory()): string =>
  `${Math.min(Math.max(Math.floor(bytes / SHARE_OF_MEMORY / MB), LEAST_SHARED_BUFFERS_MB), MOST_SHARED_BUFFERS_MB)}MB`

/** Not every build has it, and a server refuses to start with a value that it was not built with. */
export const PREFERRED_WAL_COMPRESSION = "lz4"

/** For a database that lives as long as a test run: nothing in it has to outlive a crash. */
export const SCRATCH_SETTINGS: Readonly<Record<string, string>> = {
  fsync: "off",
  full_page_writes: "off",
  shared_buffers: `${LEAST_SHARED_BUFFERS_MB}MB`,
  // Fewer processes: a run is short and its tables are small.
  io_method: "sync",
}

export const asArguments = (settings: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
