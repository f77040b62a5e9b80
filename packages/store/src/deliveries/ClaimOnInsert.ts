import type * as Email from "@waybill/domain/email/Email"
import { Context, Effect, Layer, type Scope } from "effect"
import type { CellName } from "../cell/CellName.ts"
import type { ChangedStream } from "../log/StreamRef.ts"
import type { ContentRow } from "../content/StoredContent.ts"
import type { OutboxRow, RowClaim } from "../outbox/OutboxRow.ts"
import * as Provenance from "../log/Provenance.ts"
import * as PendingDeliveries from "./PendingDeliveries.ts"

/** A delivery that a transaction inserts and that is due at once. */
export interface NewDelivery {
  readonly row: OutboxRow
  readonly accepted: PendingDeliveries.AcceptedMessage
}

/** How a transaction ended. */
export type TransactionEnd = "committed" | "rolled back" | "unknown"

/** Rows that a pipeline of this process claims in the transaction that inserts them. */
export interface InsertClaim extends RowClaim {
  /** Called when the transaction has ended; only the first call has an effect. `xmin` is the id of the transaction. */
  readonly end: (how: TransactionEnd, xmin?: string) => void
}

/** A pipeline that claims new rows of its cell. */
export interface Claimer {
  /** Claims as many of the rows as the pipeline has capacity for; undefined if it claims no rows now. */
  readonly claim: (rows: ReadonlyArray<NewDelivery>) => Effect.Effect<InsertClaim | undefined>
}

export interface Claimers {
  /** The pipeline of a cell in this process. */
  readonly of: (cell: CellName) => Claimer | undefined
  readonly register: (cell: CellName, claimer: Claimer) => Effect.Effect<void, never, Scope.Scope>
}

const none: Claimers = { of: () => undefined, register: () => Effect.void }

/** The pipelines of this process that claim new deliveries. By default there are none, and workers find the rows. */
export const ClaimOnInsert = Context.Reference<Claimers>("@waybill/store/deliveries/ClaimOnInsert", {
  defaultValue: () => none,
})

/** Lets the pipelines of this process claim the deliveries that its commits insert. */
export const layer = Layer.sync(ClaimOnInsert, (): Claimers => {
  const claimers = new Map<CellName, Claimer>()
  return {
    of: (cell) => claimers.get(cell),
    register: (cell, claimer) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => claimers.set(cell, claimer)),
          () => Effect.sync(() => claimers.get(cell) === claimer && claimers.delete(cell)),
        ),
      ),
  }
})

/** Returns the deliveries that begin with a batch and are due at once. Those on a test clock wait for its time. */
export const newDeliveries = (
  changedStreams: ReadonlyArray<ChangedStream>,
  content: ReadonlyArray<ContentRow>,
  armed: ReadonlyArray<OutboxRow>,
  now: string,
): ReadonlyArray<NewDelivery> => {
  const begun = new Map(
    changedStreams.flatMap((stream) => (stream.version === stream.added.length ? [[stream.stream_id, stream]] : [])),
  )
  const bodies = new Map(content.map(({ account_id, bytes, sha256 }) => [`${account_id} ${sha256}`, bytes]))
  return armed.flatMap((row): ReadonlyArray<NewDelivery> => {
    const stream = begun.get(row.id)
    if (row.kind !== "delivery" || stream === undefined || row.available_at > now || typeof row.clock === "string")
      return []
    const message = stream.state as Email.Message
    const body = PendingDeliveries.isSmall(message)
      ? bodies.get(`${row.account_id} ${message.accepted.content.sha256}`)
      : undefined
    const { version, added } = stream
    const last = added.at(-1)
    if (last === undefined) return []
    return [
      { row, accepted: { message, origin: Provenance.following(added[0]), body, version, event_id: last.event_id } },
    ]
  })
}
