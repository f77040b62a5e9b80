import { queryOptions } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/Operate"
import { get } from "../api/Api.ts"

/** What goes on now is looked at again while somebody watches. */
const WATCHED_MS = 3_000

export const accounts = queryOptions({
  queryKey: ["operate", "accounts"],
  queryFn: ({ signal }) =>
    get<{ readonly data: ReadonlyArray<Operate.OperatedAccount> }>("/operate/accounts", {}, signal),
})

export const queues = queryOptions({
  queryKey: ["operate", "queues"],
  refetchInterval: WATCHED_MS,
  queryFn: ({ signal }) => get<Operate.Queues>("/operate/queues", {}, signal),
})

export const nodes = queryOptions({
  queryKey: ["operate", "nodes"],
  refetchInterval: WATCHED_MS,
  queryFn: ({ signal }) => get<Operate.Nodes>("/operate/nodes", {}, signal),
})

const REST_MS = 10_000
const WORKING_MS = 1_000

export const projections = queryOptions({
  queryKey: ["operate", "projections"],
  queryFn: ({ signal }) => get<Operate.Projections>("/operate/projections", {}, signal),
  refetchInterval: ({ state }) =>
    state.data?.jobs.some(({ ended }) => ended === null) === true ||
    state.data?.under_way.some(({ working }) => working) === true
      ? WORKING_MS
      : REST_MS,
})
