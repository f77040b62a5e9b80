import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as RecordedEvents from "./RecordedEvents.ts"

/**
 * Restores an event from its row. Data of the current schema version is used as it is, because it was encoded by this
 * schema; only older versions are decoded, which would otherwise be most of a rebuild's cost.
 */
export const eventInPlace = (
  aggregate: RecordedEvents.AnyAggregate,
  type: string,
  schemaVersion: number,
  data: Record<string, unknown>,
): RecordedEvents.AnyEvent => {
  if (schemaVersion === DomainEvent.schemaVersion(type)) return Object.assign(data, { _tag: type })
  return RecordedEvents.coderOf(aggregate).decode({ _tag: type, ...DomainEvent.upcast(type, schemaVersion, data) })
}
