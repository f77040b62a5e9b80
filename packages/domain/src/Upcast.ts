/** The data of an event as its row holds it, without its tag. */
export type Data = Readonly<Record<string, unknown>>

/** From one version to the next. Total: it takes whatever a row of that version may hold. */
export type Step = (data: Data) => Data

/** Per type, the steps that lead from version 1 upwards; a type without steps is still at version 1. */
export type Steps = { readonly [type: string]: ReadonlyArray<Step> }

/** Types are never renamed and never deleted, versions only grow; each step that stands here is never edited. */
export const STEPS: Steps = {}

/** Bound to a table of steps, so that the mechanism is tested with histories older than this service. */
export const make = (steps: Steps) => {
  const stepsOf = (type: string): ReadonlyArray<Step> => (Object.hasOwn(steps, type) ? (steps[type] ?? []) : [])
  return {
    schemaVersion: (type: string): number => stepsOf(type).length + 1,
    /**
     * The data in its newest shape. A version from a newer node passes as it is: fields it has and we don't are
     * ignored when it is decoded, which is what lets nodes of two releases share a log.
     */
    upcast: (type: string, version: number, data: Data): Data => {
      let newest = data
      for (const step of stepsOf(type).slice(Math.max(0, version - 1))) newest = step(newest)
      return newest
    },
  }
}
