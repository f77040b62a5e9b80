import { Context } from "effect"

/** Who did it: a key, a user of the dashboard, an operator at the command line, or the service itself. */
export interface Actor {
  readonly type: "api_key" | "user" | "operator" | "system"
  readonly id: string | null
}

export interface Provenance {
  readonly actor: Actor
  readonly request_id: string | null
  /** All that follows from one request shares its correlation; causation is the fact that directly led here. */
  readonly correlation_id: string | null
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

/** What follows from a fact belongs to the request that the fact belongs to. */
export const following = (
  fact: { readonly event_id: string; readonly meta: Pick<Provenance, "correlation_id"> } | undefined,
): Provenance =>
  fact === undefined ? system : { ...system, correlation_id: fact.meta.correlation_id, causation_id: fact.event_id }

/** What is written into the `meta` of every event appended inside an effect. */
export const Provenance = Context.Reference<Provenance>("@waybill/store/commit/Provenance", {
  defaultValue: () => system,
})
