import * as Timestamp from "@waybill/domain/values/Timestamp"

/** Days since 1970, in UTC. */
export type Day = number

export const dayOf = (epochMillis: number): Day => Math.floor(epochMillis / Timestamp.DAY)

/** Returns a day as `2026-11-28`. */
export const dateOf = (day: Day): string => Timestamp.fromMillis(day * Timestamp.DAY).slice(0, 10)
