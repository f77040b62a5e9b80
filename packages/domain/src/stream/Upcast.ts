/** The data of an event as stored, without its tag. */
export type Data = Readonly<Record<string, unknown>>

/** Migrates data from one version to the next. Total: accepts anything that a row of that version may hold. */
export type Step = (data: Data) => Data

/** Steps per type, from version 1 upwards. A type without steps is at version 1. */
export type Steps = { readonly [type: string]: ReadonlyArray<Step> }

/**
 * The steps of this release: none yet, because all events have their first form. Types are never renamed or deleted, versions
 * only grow, and existing steps are never edited.
 */
export const STEPS: Steps = {}

/** Binds the functions to a table of steps, so that tests can use older histories than this service has. */
export const make = (steps: Steps) => {
  const stepsOf = (type: string): ReadonlyArray<Step> => (Object.hasOwn(steps, type) ? (steps[type] ?? []) : [])
  return {
    schemaVersion: (type: string): number => stepsOf(type).length + 1,
    /**
     * Returns the data in its newest version. A version from a newer release passes unchanged: decoding ignores unknown
     * fields, so two releases can share a log.
     */
    upcast: (type: string, version: number, data: Data): Data => {
      let newest = data
      for (const step of stepsOf(type).slice(Math.max(0, version - 1))) newest = step(newest)
      return newest
    },
  }
}
