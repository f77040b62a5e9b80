import type { Door } from "./Door.ts"
import * as Postmark from "./postmark/Postmark.ts"
import * as Resend from "./resend/Resend.ts"
import * as SendGrid from "./sendgrid/SendGrid.ts"

export const DOORS: ReadonlyArray<Door> = [Resend.door, Postmark.door, SendGrid.door]

/** Returns the door that a path belongs to; `undefined` for Waybill's own paths. */
export const at = (path: string): Door | undefined =>
  path.startsWith("/compat/") ? DOORS.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`)) : undefined
