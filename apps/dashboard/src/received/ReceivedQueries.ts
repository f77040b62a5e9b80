import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import type { InboundEmail, InboundEmailWhole, Page } from "../api/Records.ts"

const PAGE = 50

export const page = (q: string | undefined, after: string | undefined, signal?: AbortSignal) =>
  Api.get<Page<InboundEmail>>("/inbound", { q, limit: PAGE, after }, signal)

/** Received mail, or that in which all words are found. */
export const list = (q: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["received", "list", q ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => page(q, pageParam, signal),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })

export const mail = (id: string) =>
  queryOptions({
    queryKey: ["received", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => Api.get<InboundEmailWhole>(`/inbound/${id}`, {}, signal),
  })
