import { queryOptions } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/groups/Operate"
import * as Api from "../api/Api.ts"

/** Refetch interval of queues and nodes. */
const POLL_MS = 3_000

/** Refetch interval of addresses and cells, and of projections while none is rebuilt or verified; of these otherwise. */
const IDLE_POLL_MS = 10_000
const BUSY_POLL_MS = 1_000

export const accounts = queryOptions({
  queryKey: ["operate", "accounts"],
  queryFn: ({ signal }) => Api.get<Operate.Accounts>("/operate/accounts", {}, signal),
})

export const queues = queryOptions({
  queryKey: ["operate", "queues"],
  refetchInterval: POLL_MS,
  queryFn: ({ signal }) => Api.get<Operate.Queues>("/operate/queues", {}, signal),
})

export const nodes = queryOptions({
  queryKey: ["operate", "nodes"],
  refetchInterval: POLL_MS,
  queryFn: ({ signal }) => Api.get<Operate.Nodes>("/operate/nodes", {}, signal),
})

export const cells = queryOptions({
  queryKey: ["operate", "cells"],
  refetchInterval: IDLE_POLL_MS,
  queryFn: ({ signal }) => Api.get<Operate.Cells>("/operate/cells", {}, signal),
})

export const providers = queryOptions({
  queryKey: ["operate", "providers"],
  refetchInterval: POLL_MS,
  queryFn: ({ signal }) => Api.get<Operate.Providers>("/operate/providers", {}, signal),
})

export const addresses = queryOptions({
  queryKey: ["operate", "addresses"],
  refetchInterval: IDLE_POLL_MS,
  queryFn: ({ signal }) => Api.get<Operate.SourceAddresses>("/operate/addresses", {}, signal),
})

export const projections = queryOptions({
  queryKey: ["operate", "projections"],
  queryFn: ({ signal }) => Api.get<Operate.Projections>("/operate/projections", {}, signal),
  refetchInterval: ({ state }) =>
    state.data?.jobs.some(({ ended }) => ended === null) === true ||
    state.data?.under_way.some(({ working }) => working) === true
      ? BUSY_POLL_MS
      : IDLE_POLL_MS,
})
