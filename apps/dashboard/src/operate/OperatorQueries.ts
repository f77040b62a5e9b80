import { queryOptions } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/groups/Operate"
import * as Queries from "../api/Queries.ts"

/** Refetch interval of queues and nodes. */
const POLL_MS = 3_000

/** Refetch interval of addresses and cells, and of projections while none is rebuilt or verified; of these otherwise. */
const IDLE_POLL_MS = 10_000
const BUSY_POLL_MS = 1_000

const list = <A>(name: string, refetchInterval: number | false = false) => ({
  ...Queries.read<A>(["operate", name], `/operate/${name}`),
  refetchInterval,
})

export const accounts = list<Operate.Accounts>("accounts")
export const queues = list<Operate.Queues>("queues", POLL_MS)
export const nodes = list<Operate.Nodes>("nodes", POLL_MS)
export const cells = list<Operate.Cells>("cells", IDLE_POLL_MS)
export const settings = list<Operate.Settings>("settings")
export const providers = list<Operate.Providers>("providers", POLL_MS)
export const addresses = list<Operate.SourceAddresses>("addresses", IDLE_POLL_MS)

export const projections = queryOptions({
  ...Queries.read<Operate.Projections>(["operate", "projections"], "/operate/projections"),
  refetchInterval: ({ state }) =>
    state.data?.jobs.some(({ ended }) => ended === null) === true ||
    state.data?.under_way.some(({ working }) => working) === true
      ? BUSY_POLL_MS
      : IDLE_POLL_MS,
})
