import * as Account from "@waybill/domain/account/Account"
import * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as Plan from "@waybill/domain/account/Plan"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"

/** Prefix of the endpoints for the dashboard's operator screens. They are not part of the public contract. */
export const PREFIX = "/v1/operate"

export const NewAccount = Schema.Struct({
  name: Account.Name,
  plan: Plan.Plan,
  /** Address of the first owner, who is invited. */
  owner: Address.FromText,
})

export const AccountChange = Schema.Struct({
  plan: Schema.optionalKey(Plan.Plan),
  /** Whether tracked links of this account redirect. */
  links_followed: Schema.optionalKey(Schema.Boolean),
})

/** The body of a request that takes none. A struct without fields would accept any value. */
export const Nothing = Schema.Record(Schema.String, Schema.Never)

export const Swap = Schema.Struct({ back: Schema.Boolean })

/** A cell as operators see it. What only the cell itself knows is `null` if it does not answer. */
interface Cell {
  readonly name: string
  readonly state: "open" | "full" | "draining"
  /** Server that it lies on, if it is a node of Citus or one of its own. */
  readonly node: string | null
  readonly accounts: number | null
  /** Recipients accepted by its accounts in all months. */
  readonly emails: number | null
  readonly bytes: number | null
  /** Positions of the log between its slowest follower and its last event. */
  readonly lag: number | null
  /** Events per second in the last seconds. */
  readonly per_second: number | null
  /** Rows of the outbox that are due and wait. */
  readonly waiting: number | null
}

export interface Cells {
  readonly data: ReadonlyArray<Cell>
}

export interface AccountSummary {
  readonly id: Id.AccountId
  readonly name: string
  readonly plan: Plan.Plan
  readonly created_at: Timestamp.Timestamp
  readonly members: number
  /** Recipients accepted this month, and the limit; `null` is unlimited. */
  readonly emails: number
  readonly monthly_emails: number | null
  /** When an operator stopped this account's tracked links; `null` while they redirect. */
  readonly links_stopped_at: Timestamp.Timestamp | null
  readonly cell: string
}

export interface Accounts {
  readonly data: ReadonlyArray<AccountSummary>
  /** Names of the cells that did not answer, so that their accounts are missing. */
  readonly unreachable: ReadonlyArray<string>
}

export interface Providers {
  readonly data: ReadonlyArray<{
    readonly id: string
    readonly provider: string
    readonly name: string
    /** When the newest reported event happened, and how long it took to arrive; `null` before the first. */
    readonly last_event_at: string | null
    readonly lag_ms: number | null
    readonly recorded: number
    /** Events about no known message. */
    readonly unmatched: number
    readonly refused: number
    readonly last_refusal: string | null
  }>
}

/** Problem of a source address that an operator should look at. */
export type SourceProblem = "names" | "listed" | "absent" | "blocked"

export interface SourceAddress {
  readonly address: string
  readonly pool: string
  /** Name in EHLO; `null` is the one of the worker's host. */
  readonly ehlo: string | null
  /** Warm-up plan with the day reached, from 1; the day is `null` after the plan has ended. */
  readonly warm_up: { readonly plan: string; readonly day: number | null; readonly days: number } | null
  /** Mails of the day in UTC by provider, with the plan's limit. */
  readonly today: ReadonlyArray<{ readonly provider: string; readonly sent: number; readonly limit: number | null }>
  /** Pauses by site; the site `*` is all mail. `until` is `null` if an operator has to resume it. */
  readonly pauses: ReadonlyArray<{
    readonly site: string
    readonly since: string
    readonly until: string | null
    readonly reason: string
  }>
  readonly checked_at: string | null
  /** Whether PTR record, name in EHLO and its address agree; `null` before the first check. */
  readonly names: { readonly status: "ok" | "wrong" | "unknown"; readonly result: string } | null
  readonly listings: ReadonlyArray<{
    readonly zone: string
    readonly status: "clear" | "listed" | "unknown"
    readonly result: string
  }>
  /** Worker hosts of the last minutes, and whether they can send from the address. */
  readonly hosts: ReadonlyArray<{ readonly host: string; readonly bindable: boolean }>
  readonly problems: ReadonlyArray<SourceProblem>
}

export interface SourcePool {
  readonly name: string
  /** Pool that takes mail for which this one has no address now; `null` if such mail waits. */
  readonly overflow: string | null
  readonly addresses: number
  readonly assignments: number
}

export interface SourceAddresses {
  readonly data: ReadonlyArray<SourceAddress>
  readonly pools: ReadonlyArray<SourcePool>
}

/** A process with a worker, as operators see it. */
interface WorkerProcess {
  readonly id: string
  readonly started_at: string
  readonly beat_at: string
  /** Whether its heartbeat is recent. Other processes take over the work of a process that is not alive. */
  readonly alive: boolean
  /** Number of rows that it has leased. */
  readonly leases: number
}

export interface Nodes {
  readonly nodes: ReadonlyArray<WorkerProcess>
  readonly connections: ReadonlyArray<{
    readonly application: string
    readonly state: string
    readonly connections: number
  }>
  readonly size_bytes: number
  readonly release: string
}

/** Settings of the process that answers, and their names by what they are about. */
export interface Settings {
  readonly groups: ReadonlyArray<readonly [title: string, names: ReadonlyArray<string>]>
  readonly data: ReadonlyArray<{
    readonly name: string
    /** `null` if it is not set; of a secret only that it is. */
    readonly value: string | null
    readonly default: string | null
    readonly meaning: string
  }>
}

export interface Queues {
  readonly queue: ReadonlyArray<{
    readonly kind: string
    readonly state: "ready" | "leased" | "scheduled"
    readonly rows: number
    /** Those of the rows that were attempted before. */
    readonly deferred: number
    readonly oldest_s: number
  }>
  /** Events per second over the last 10 seconds, by type. */
  readonly per_second: Readonly<Record<string, number>>
  readonly workers: number
  readonly position: number
}

export interface ProjectionVersion {
  /** Cell of its table; left out if there is only one. */
  readonly cell?: string
  readonly name: string
  readonly version: number
  readonly state: string
  readonly behind: number
  readonly rows: number
  readonly size_bytes: number
  readonly events: number
}

/** A rebuild or verification that was started on the responding node. */
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

/** Progress of a rebuild that is running, on any node or the command line, or was left unfinished. */
export interface ProjectionUnderWay {
  readonly name: string
  /** `null` during a comparison or a swap, which builds nothing. */
  readonly version: number | null
  /** Whether a process is working on it now. */
  readonly working: boolean
  readonly phase: "folding" | "indexing" | "comparing"
  readonly events: number
  /** Estimated number of events in the log for this read model. */
  readonly total: number
  readonly slices: number
  readonly slices_done: number
  /** Cell of its table; left out if there is only one. */
  readonly cell?: string
}

export interface Projections {
  readonly versions: ReadonlyArray<ProjectionVersion>
  readonly under_way: ReadonlyArray<ProjectionUnderWay>
  readonly jobs: ReadonlyArray<ProjectionJob>
}
