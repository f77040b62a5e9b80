import type { Door } from "./Door.ts"
import { resend } from "./resend/Resend.ts"

const DOORS: ReadonlyArray<Door> = [resend]

/** Returns the door that a path belongs to; `undefined` for Waybill's own paths. */
export const at = (path: string): Door | undefined =>
  path.startsWith("/compat/") ? DOORS.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`)) : undefined
