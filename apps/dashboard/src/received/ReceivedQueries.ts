import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import type { InboundEmail, InboundEmailWhole, Page } from "../api/Records.ts"

const PAGE = 50

export const page = (after: string | undefined, signal?: AbortSignal) =>
  Api.get<Page<InboundEmail>>("/inbound", { limit: PAGE, after }, signal)

export const list = infiniteQueryOptions({
  queryKey: ["received"],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) => page(pageParam, signal),
  getNextPageParam: (last) => last.next_cursor ?? undefined,
})

export const mail = (id: string) =>
  queryOptions({
    queryKey: ["received", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => Api.get<InboundEmailWhole>(`/inbound/${id}`, {}, signal),
  })
