import { Context } from "effect"

/** The cause of an event: an API key, a user of the dashboard, an operator at the command line, or the service itself. */
export interface Actor {
  readonly type: "api_key" | "user" | "operator" | "system"
  readonly id: string | null
}

export interface Provenance {
  readonly actor: Actor
  readonly request_id: string | null
  /** Shared by everything that follows from one request. */
  readonly correlation_id: string | null
  /** Id of the event that directly caused this one. */
  readonly causation_id: string | null
  readonly address: string | null
}

export const system: Provenance = {
  actor: { type: "system", id: null },
  request_id: null,
  correlation_id: null,
  causation_id: null,
  address: null,
}

/** Provenance of what the service does because of an event: it belongs to the request of that event. */
export const following = (
  fact: { readonly event_id: string; readonly meta: Pick<Provenance, "correlation_id"> } | undefined,
): Provenance =>
  fact === undefined ? system : { ...system, correlation_id: fact.meta.correlation_id, causation_id: fact.event_id }

/** Provenance of the events that an effect appends, written into their `meta`. */
export const Provenance = Context.Reference<Provenance>("@waybill/store/log/Provenance", {
  defaultValue: () => system,
})
