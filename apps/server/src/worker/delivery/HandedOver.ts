import type { PgClient } from "@effect/sql-pg"
import type * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import type * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"

export type Note = (
  message: ProviderMessages.HandedOver,
  outcomes: ReadonlyArray<DeliveryOutcome.Outcome>,
) => Effect.Effect<void, StoreUnavailable, PgClient.PgClient>

/** Keeps the ids by which providers named the mail that they took. */
export class HandedOver extends Context.Service<HandedOver, Note>()("@waybill/server/worker/delivery/HandedOver") {}
