import { instance } from "../api/instance.ts"
import type { Domain } from "../api/Records.ts"

/**
 * Whether the sandbox verified the domain without a look at DNS, because nobody has records under its name. Such a domain also
 * receives, whether or not its owner turned that on.
 */
export const needsNoDns = ({ last_checked_at, status }: Domain): boolean =>
  instance.transport === "capture" && status === "verified" && last_checked_at === null
