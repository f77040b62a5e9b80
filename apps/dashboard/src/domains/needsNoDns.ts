import type { Domain } from "../api/Records.ts"

/** Whether the domain was verified without a look at DNS, as those of the sandbox are under which nobody has records. */
export const needsNoDns = ({ last_checked_at, status }: Domain): boolean =>
  status === "verified" && last_checked_at === null
