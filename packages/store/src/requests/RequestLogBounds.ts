/** Maximum rows and bytes of the request log, per minute and process or per day (UTC) and database. */
export interface Amount {
  readonly rows: number
  readonly bytes: number
}

export const MAX_KEY_ROWS_PER_MINUTE = 1_200
export const MAX_KEY_BYTES_PER_MINUTE = 2 * 1024 * 1024
export const MAX_ACCOUNT_ROWS_PER_MINUTE = 3_000
export const MAX_ACCOUNT_BYTES_PER_MINUTE = 4 * 1024 * 1024
export const MAX_PROCESS_ROWS_PER_MINUTE = 12_000
export const MAX_PROCESS_BYTES_PER_MINUTE = 16 * 1024 * 1024

export const MAX_KEY_ROWS_PER_DAY = 50_000
export const MAX_KEY_BYTES_PER_DAY = 64 * 1024 * 1024
export const MAX_ACCOUNT_ROWS_PER_DAY = 100_000
export const MAX_ACCOUNT_BYTES_PER_DAY = 128 * 1024 * 1024
export const MAX_ROWS_PER_DAY = 2_000_000
export const MAX_BYTES_PER_DAY = 2 * 1024 * 1024 * 1024

/** Levels of bounds: a key or a member, an account with all of these, and all accounts: of a process, and of a database. */
export type Level = "caller" | "account" | "all"

export const PER_MINUTE: Readonly<Record<Level, Amount>> = {
  caller: { rows: MAX_KEY_ROWS_PER_MINUTE, bytes: MAX_KEY_BYTES_PER_MINUTE },
  account: { rows: MAX_ACCOUNT_ROWS_PER_MINUTE, bytes: MAX_ACCOUNT_BYTES_PER_MINUTE },
  all: { rows: MAX_PROCESS_ROWS_PER_MINUTE, bytes: MAX_PROCESS_BYTES_PER_MINUTE },
}

export const PER_DAY: Readonly<Record<Level, Amount>> = {
  caller: { rows: MAX_KEY_ROWS_PER_DAY, bytes: MAX_KEY_BYTES_PER_DAY },
  account: { rows: MAX_ACCOUNT_ROWS_PER_DAY, bytes: MAX_ACCOUNT_BYTES_PER_DAY },
  all: { rows: MAX_ROWS_PER_DAY, bytes: MAX_BYTES_PER_DAY },
}
