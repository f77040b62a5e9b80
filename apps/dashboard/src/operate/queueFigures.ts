/**
 * The figures of a queue, by the same names on every screen. Work is in exactly one of the first three; what is in progress
 * is among the pending or deferred.
 */
export const queueFigures = {
  pending: ["Pending", "Due now, first attempt"],
  deferred: ["Deferred", "Tried before, and tried again later"],
  scheduled: ["Scheduled", "Not due yet, or held while a webhook's endpoint fails"],
  inProgress: ["In progress", "Being attempted now"],
  oldest: ["Oldest pending", "Time since the oldest became due"],
} as const satisfies Readonly<Record<string, readonly [name: string, meaning: string]>>
