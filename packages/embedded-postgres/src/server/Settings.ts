import { totalmem } from "node:os"

/** Part of the command line, which identifies servers of this package. */
export const CLUSTER_NAME = "waybill"

/**
 * Settings for a mail service on one machine. They are given on the command line, so that a new release changes them
 * too.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  cluster_name: CLUSTER_NAME,
  max_connections: "100",
  synchronous_commit: "on",
  max_wal_size: "2GB",
  // Queue tables need small, frequent vacuums.
  autovacuum_naptime: "10s",
  // Queries are short: JIT compilation would cost more than it saves.
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

/** Returns the memory limit of the container, or the memory of the machine. */
const memory = (): number => {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

/**
 * Returns an eighth of the memory, because the service and the system's cache share the machine. Postgres claims it
 * only as needed.
 */
export const sharedBuffers = (bytes = memory()): string =>
  `${Math.min(Math.max(Math.floor(bytes / SHARE_OF_MEMORY / MB), LEAST_SHARED_BUFFERS_MB), MOST_SHARED_BUFFERS_MB)}MB`

/** Compression of the write-ahead log, set only if the server was built with it: otherwise it refuses to start. */
export const PREFERRED_WAL_COMPRESSION = "lz4"

/** Settings for a temporary database, which need not survive a crash. */
export const SCRATCH_SETTINGS: Readonly<Record<string, string>> = {
  fsync: "off",
  full_page_writes: "off",
  shared_buffers: `${LEAST_SHARED_BUFFERS_MB}MB`,
  // Fewer processes: runs are short and tables small.
  io_method: "sync",
}

/** Settings for a database to copy: a checkpoint leaves no more of the write-ahead log than it must. */
export const COMPACT_SETTINGS: Readonly<Record<string, string>> = {
  min_wal_size: "2MB",
  wal_recycle: "off",
}

export const asArguments = (settings: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
