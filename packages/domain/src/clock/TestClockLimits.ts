import type * as Timestamp from "../values/Timestamp.ts"

/** Maximum number of test clocks of an account, without deleted ones. */
export const MAX_CLOCKS = 100
export const MAX_NAME_CHARS = 100
/** Maximum number of days by which one request advances a test clock. */
export const MAX_ADVANCE_DAYS = 366
/** Maximum number of different times at which one advance does work. It ends early at the time reached. */
export const MAX_STEPS = 10_000
/** Maximum real time in minutes that one advance may take. It ends early at the time reached. */
export const MAX_ADVANCE_MINUTES = 10

/** First and last time that a test clock may show. */
export const EARLIEST = "2000-01-01T00:00:00.000Z" as Timestamp.Timestamp
export const LATEST = "2100-01-01T00:00:00.000Z" as Timestamp.Timestamp
