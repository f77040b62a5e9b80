import { Schema } from "effect"
import * as Email from "./Email.ts"
import * as Suppression from "./Suppression.ts"
import * as Upcast from "./Upcast.ts"

/** Every decider of the service, by the kind of its streams. */
export const aggregates = {
  [Email.stream]: Email,
  [Suppression.stream]: Suppression,
} as const

export const DomainEvent = Schema.Union([Email.Event, Suppression.Event])
export type DomainEvent = typeof DomainEvent.Type

export const { schemaVersion, upcast } = Upcast.make(Upcast.STEPS)
