import { infiniteQueryOptions, keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query"
import * as auth from "./Auth.ts"
import type {
  Account,
  ApiKey,
  AuditEntry,
  Delivery,
  DeliveryDetail,
  Domain,
  EmailWithContent,
  EventRecord,
  Member,
  Page,
  SandboxMessage,
  Session,
  Stats,
  Suppression,
  Webhook,
  WholeSandboxMessage,
} from "./Records.ts"
import { get, refusalOf, Refused } from "./Api.ts"

/** How long an answer is good enough to be shown without asking again. */
const FRESH_MS = 10_000
const RETRIES = 2
const RETRY_MS = 800

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // What the server refused it will refuse again; only a network or a server that stumbled is asked once more.
      retry: (failures, error) =>
        failures < RETRIES && (!(error instanceof Refused) || error.status === 0 || error.status >= 500),
      retryDelay: RETRY_MS,
    },
  },
})

/** Who is signed in: what the account lets them do, and who they are. */
export const session = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async (): Promise<{ readonly may: Session; readonly user: auth.User }> => {
    const known = await auth.current()
    if (known === null)
      throw new Refused({ status: 401, message: "Sign in first.", reason: "signed_out", requestId: null })
    return { may: await get<Session>("/session"), user: known.user }
  },
})

export const account = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => get<Account>("/account", {}, signal),
})

export const apiKeys = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => get<Page<ApiKey>>("/api-keys", {}, signal),
})

export const domains = queryOptions({
  queryKey: ["domains"],
  queryFn: ({ signal }) => get<Page<Domain>>("/domains", {}, signal),
})

export const domain = (name: string) =>
  queryOptions({
    queryKey: ["domains", name],
    queryFn: ({ signal }) => get<Domain>(`/domains/${encodeURIComponent(name)}`, {}, signal),
  })

export const email = (id: string) =>
  queryOptions({
    queryKey: ["email", id],
    queryFn: ({ signal }) => get<EmailWithContent>(`/email/logs/${id}`, {}, signal),
  })

export const emailEvents = (id: string) =>
  queryOptions({
    queryKey: ["email", id, "events"],
    queryFn: ({ signal }) => get<Page<EventRecord>>(`/email/logs/${id}/events`, {}, signal),
  })

const SANDBOX_PAGE = 50

export const inboxPage = (after: string | undefined, signal?: AbortSignal) =>
  get<Page<SandboxMessage>>("/sandbox/messages", { limit: SANDBOX_PAGE, after }, signal)

export const inbox = infiniteQueryOptions({
  queryKey: ["inbox"],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) => inboxPage(pageParam, signal),
  getNextPageParam: (page) => page.next_cursor ?? undefined,
})

export const captured = (id: string) =>
  queryOptions({
    queryKey: ["inbox", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => get<WholeSandboxMessage>(`/sandbox/messages/${id}`, {}, signal),
  })

export const raw = (id: string) =>
  queryOptions({
    queryKey: ["raw", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const response = await fetch(`/preview/emails/${id}/raw`, { signal })
      if (!response.ok) throw await refusalOf(response)
      return response.text()
    },
  })

export const webhooks = queryOptions({
  queryKey: ["webhooks"],
  queryFn: ({ signal }) => get<Page<Webhook>>("/webhooks", {}, signal),
})

export const webhook = (id: string) =>
  queryOptions({ queryKey: ["webhooks", id], queryFn: ({ signal }) => get<Webhook>(`/webhooks/${id}`, {}, signal) })

const DELIVERIES_PAGE = 50

export const deliveries = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["webhooks", id, "deliveries"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      get<Page<Delivery>>(`/webhooks/${id}/deliveries`, { limit: DELIVERIES_PAGE, after: pageParam }, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const delivery = (webhookId: string, id: string) =>
  queryOptions({
    queryKey: ["webhooks", webhookId, "deliveries", id],
    queryFn: ({ signal }) => get<DeliveryDetail>(`/webhooks/${webhookId}/deliveries/${id}`, {}, signal),
  })

const SUPPRESSIONS_PAGE = 50

export const suppressions = infiniteQueryOptions({
  queryKey: ["suppressions"],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    get<Page<Suppression>>("/suppressions", { limit: SUPPRESSIONS_PAGE, after: pageParam }, signal),
  getNextPageParam: (page) => page.next_cursor ?? undefined,
})

export const members = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => get<Page<Member>>("/members", {}, signal),
})

const AUDIT_PAGE = 50

export const audit = infiniteQueryOptions({
  queryKey: ["audit"],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) => get<Page<AuditEntry>>("/audit", { limit: AUDIT_PAGE, after: pageParam }, signal),
  getNextPageParam: (page) => page.next_cursor ?? undefined,
})

export const stats = (from: string, to: string, groupBy: string) =>
  queryOptions({
    queryKey: ["stats", from, to, groupBy],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => get<Stats>("/stats", { from, to, group_by: groupBy }, signal),
  })
