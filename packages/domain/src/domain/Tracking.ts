import { Schema } from "effect"

/** Whether opens and clicks of a mail are tracked. Off by default. */
export const Tracking = Schema.Struct({ opens: Schema.Boolean, clicks: Schema.Boolean })
export type Tracking = typeof Tracking.Type

/** A change of tracking; `null` keeps the present value. */
export interface Change {
  readonly opens: boolean | null
  readonly clicks: boolean | null
}

export const NONE: Tracking = { opens: false, clicks: false }

/**
 * Applies a change. Returns `undefined` if nothing is tracked, so that untracked mail and domains have no such field.
 */
export const apply = (before: Tracking | undefined, change: Change): Tracking | undefined => {
  const opens = change.opens ?? before?.opens ?? false
  const clicks = change.clicks ?? before?.clicks ?? false
  return opens || clicks ? { opens, clicks } : undefined
}
