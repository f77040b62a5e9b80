import * as Account from "@waybill/domain/Account"
import * as Address from "@waybill/domain/Address"
import type * as Id from "@waybill/domain/Id"
import * as Plan from "@waybill/domain/Plan"
import type * as Timestamp from "@waybill/domain/Timestamp"
import { Schema } from "effect"

/** Below this the dashboard's screens for operators ask. It is no part of the contract: it changes with the screens. */
export const PREFIX = "/v1/operate"

export const NewAccount = Schema.Struct({
  name: Account.Name,
  plan: Plan.Plan,
  /** Who is invited as its first owner. */
  owner: Address.FromText,
})

export const AccountChange = Schema.Struct({
  plan: Schema.optionalKey(Plan.Plan),
  /** Whether the links of its tracked mail lead on. */
  links_followed: Schema.optionalKey(Schema.Boolean),
})

export const Swap = Schema.Struct({ back: Schema.Boolean })

export interface OperatedAccount {
  readonly id: Id.AccountId
  readonly name: string
  readonly plan: Plan.Plan
  readonly created_at: Timestamp.Timestamp
  readonly members: number
  /** Recipients accepted this month, and how many it may be; `null` is unlimited. */
  readonly emails: number
  readonly monthly_emails: number | null
  /** Since when the links of its tracked mail lead nowhere. */
  readonly links_stopped_at: Timestamp.Timestamp | null
}

export interface Node {
  readonly id: string
  readonly started_at: string
  readonly beat_at: string
  /** Whether it has shown itself lately; what is silent is taken over by the others. */
  readonly alive: boolean
  /** Work that it has under way. */
  readonly leases: number
}

export interface Nodes {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: ReadonlyArray<{
    readonly application: string
    readonly state: string
    readonly connections: number
  }>
  readonly size_bytes: number
  readonly release: string
}

export interface Queues {
  readonly queue: ReadonlyArray<{
    readonly kind: string
    readonly state: "ready" | "leased" | "scheduled"
    readonly rows: number
    readonly oldest_s: number
  }>
  /** Facts a second over the last while, by type. */
  readonly per_second: Readonly<Record<string, number>>
  readonly workers: number
  readonly position: number
}

export interface ProjectionVersion {
  readonly name: string
  readonly version: number
  readonly state: string
  readonly behind: number
  readonly rows: number
  readonly size_bytes: number
  readonly events: number
}

/** A rebuild or a comparison that was begun on the node that answers. */
export interface ProjectionJob {
  readonly name: string
  readonly kind: "rebuild" | "verify"
  readonly started_at: string
  readonly phase: string
  readonly events: number
  readonly total: number
  readonly eta_seconds: number | null
  /** `null` while it runs. */
  readonly ended: null | { readonly good: boolean; readonly said: string }
}

/** What is being built on whatever node or at the command line, or was left unfinished there. */
export interface ProjectionUnderWay {
  readonly name: string
  /** `null` while nothing is built, but compared or swapped. */
  readonly version: number | null
  readonly working: boolean
  readonly phase: "folding" | "indexing" | "comparing"
  readonly events: number
  readonly total: number
  readonly slices: number
  readonly slices_done: number
}

export interface Projections {
  readonly versions: ReadonlyArray<ProjectionVersion>
  readonly under_way: ReadonlyArray<ProjectionUnderWay>
  readonly jobs: ReadonlyArray<ProjectionJob>
}
