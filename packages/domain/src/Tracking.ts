import { Schema } from "effect"

/** Whether a mail tells when it is opened, and which of its links are followed. Nothing is tracked unless somebody asks. */
export const Tracking = Schema.Struct({ opens: Schema.Boolean, clicks: Schema.Boolean })
export type Tracking = typeof Tracking.Type

/** What is said about it where not everything is: `null` leaves it as it is. */
export interface Wish {
  readonly opens: boolean | null
  readonly clicks: boolean | null
}

export const NONE: Tracking = { opens: false, clicks: false }

/** `undefined` where nothing is tracked, so that what does without has nothing to carry. */
export const wished = (before: Tracking | undefined, wish: Wish): Tracking | undefined => {
  const opens = wish.opens ?? before?.opens ?? false
  const clicks = wish.clicks ?? before?.clicks ?? false
  return opens || clicks ? { opens, clicks } : undefined
}
