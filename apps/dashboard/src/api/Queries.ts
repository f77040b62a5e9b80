import { infiniteQueryOptions, keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query"
import * as Api from "./Api.ts"
import { ApiError } from "./ApiError.ts"
import * as Auth from "./Auth.ts"
import * as Mode from "./Mode.ts"
import * as Paths from "./Paths.ts"
import { pathOf, type RequestFilters } from "./RequestFilters.ts"
import type {
  Account,
  ApiKey,
  AuditEntry,
  Delivery,
  DeliveryDetail,
  Domain,
  Email,
  EmailWithContent,
  EventRecord,
  InboundEmail,
  ListedTemplate,
  Member,
  NotKeptRequests,
  Request,
  RequestDetail,
  Page,
  SavedView,
  SandboxMessage,
  Stats,
  Suppression,
  Thread,
  Webhook,
  SandboxMessageWithContent,
} from "./Records.ts"

/** Age up to which cached data is shown without refetching. */
const STALE_MS = 10_000
const RETRIES = 2
const RETRY_MS = 800

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // Only network errors and server errors are retried: other errors would repeat.
      retry: (failures, error) =>
        failures < RETRIES && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
      retryDelay: RETRY_MS,
    },
  },
})

/** The signed-in user, and the session with its role and scopes in the account. */
export const session = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async (): Promise<Auth.SignedIn> => {
    const current = await Auth.current()
    if (current === null)
      throw new ApiError({ status: 401, message: "Sign in to continue.", reason: "signed_out", requestId: null })
    return current
  },
})

export const account = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => Api.get<Account>(Paths.ACCOUNT, {}, signal),
})

export const apiKeys = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => Api.get<Page<ApiKey>>(Paths.API_KEYS, {}, signal),
})

export const domains = queryOptions({
  queryKey: ["domains"],
  queryFn: ({ signal }) => Api.get<Page<Domain>>(Paths.DOMAINS, {}, signal),
})

export const domain = (name: string) =>
  queryOptions({
    queryKey: ["domains", name],
    queryFn: ({ signal }) => Api.get<Domain>(`/domains/${encodeURIComponent(name)}`, {}, signal),
  })

export const recentEmails = queryOptions({
  queryKey: ["recent"],
  queryFn: ({ signal }) => Api.get<Page<Email>>(Paths.recentEmails, {}, signal),
})

/** Unfinished emails, oldest first. */
export const pendingEmails = queryOptions({
  queryKey: ["pending-emails"],
  queryFn: ({ signal }) => Api.get<Page<Email>>(Paths.pendingEmails, {}, signal),
})

export const newestReceived = queryOptions({
  queryKey: ["newest-received"],
  queryFn: ({ signal }) => Api.get<Page<InboundEmail>>("/inbound", { limit: 1 }, signal),
})

export const email = (id: string) =>
  queryOptions({
    queryKey: ["email", id],
    queryFn: ({ signal }) => Api.get<EmailWithContent>(`/email/logs/${id}`, {}, signal),
  })

export const emailEvents = (id: string) =>
  queryOptions({
    queryKey: ["email", id, "events"],
    queryFn: ({ signal }) => Api.get<Page<EventRecord>>(`/email/logs/${id}/events`, {}, signal),
  })

export const savedViews = queryOptions({
  queryKey: ["saved-views"],
  queryFn: ({ signal }) => Api.get<{ readonly data: ReadonlyArray<SavedView> }>(Paths.SAVED_VIEWS, {}, signal),
})

const SANDBOX_PAGE = 50

export const sandboxPage = (q: string, after: string | undefined, signal?: AbortSignal) =>
  Api.get<Page<SandboxMessage>>("/sandbox/messages", { limit: SANDBOX_PAGE, after, q }, signal)

/** The mail of the sandbox that a search finds; all of it for an empty one. */
export const sandbox = (q: string) =>
  infiniteQueryOptions({
    queryKey: ["sandbox", "list", q],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => sandboxPage(q, pageParam, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const sandboxMessage = (id: string) =>
  queryOptions({
    queryKey: ["sandbox", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => Api.get<SandboxMessageWithContent>(`/sandbox/messages/${id}`, {}, signal),
  })

export const raw = (id: string) => page(Mode.withMode(`/preview/emails/${id}/raw`))

/** A page of the preview of mail, as text. */
export const page = (path: string) =>
  queryOptions({
    queryKey: ["page", path],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const response = await fetch(path, { signal })
      if (!response.ok) throw await ApiError.fromResponse(response)
      return response.text()
    },
  })

export const webhooks = queryOptions({
  queryKey: ["webhooks"],
  queryFn: ({ signal }) => Api.get<Page<Webhook>>(Paths.WEBHOOKS, {}, signal),
})

export const webhook = (id: string) =>
  queryOptions({ queryKey: ["webhooks", id], queryFn: ({ signal }) => Api.get<Webhook>(`/webhooks/${id}`, {}, signal) })

const DELIVERIES_PAGE = 50

/** Key of all lists of the deliveries of a webhook, whatever their filter. */
export const deliveriesOf = (id: string) => ["webhooks", id, "deliveries"]

export const deliveries = (id: string, status?: string) =>
  infiniteQueryOptions({
    queryKey: [...deliveriesOf(id), "list", status ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      Api.get<Page<Delivery>>(
        `/webhooks/${id}/deliveries`,
        { status, limit: DELIVERIES_PAGE, after: pageParam },
        signal,
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const delivery = (webhookId: string, id: string) =>
  queryOptions({
    queryKey: ["webhooks", webhookId, "deliveries", id],
    queryFn: ({ signal }) => Api.get<DeliveryDetail>(`/webhooks/${webhookId}/deliveries/${id}`, {}, signal),
  })

const SUPPRESSIONS_PAGE = 50

/** Key of all lists of suppressions, whatever their filters. */
export const SUPPRESSIONS = ["suppressions"]

export interface SuppressionFilters {
  readonly q?: string
  readonly reason?: string
  readonly source?: string
  readonly created_after?: string
}

export const suppressions = (filters: SuppressionFilters = {}) =>
  infiniteQueryOptions({
    queryKey: [...SUPPRESSIONS, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      Api.get<Page<Suppression>>("/suppressions", { ...filters, limit: SUPPRESSIONS_PAGE, after: pageParam }, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

/** The current suppression of an address; null if it is not suppressed. A list, because a missing one is no error. */
export const suppressionOf = (address: string) =>
  queryOptions({
    queryKey: [...SUPPRESSIONS, "of", address],
    queryFn: async ({ signal }) => {
      const found = await Api.get<Page<Suppression>>("/suppressions", { q: address, limit: SUPPRESSIONS_PAGE }, signal)
      return found.data.find(({ email }) => email.toLowerCase() === address.toLowerCase()) ?? null
    },
  })

export const members = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => Api.get<Page<Member>>("/members", {}, signal),
})

const AUDIT_PAGE = 50

interface AuditFilters {
  readonly q?: string
  readonly stream?: string
  readonly actor_id?: string
  readonly created_after?: string
}

export const audit = (filters: AuditFilters = {}) =>
  infiniteQueryOptions({
    queryKey: ["audit", filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      Api.get<Page<AuditEntry>>("/audit", { ...filters, limit: AUDIT_PAGE, after: pageParam }, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

const REQUESTS_PAGE = 50

export const requests = (filters: RequestFilters) =>
  infiniteQueryOptions({
    queryKey: ["requests", filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      Api.get<Page<Request> & { readonly not_kept: ReadonlyArray<NotKeptRequests> }>(
        "/requests",
        {
          ...filters,
          ...(filters.path === undefined ? {} : { path: pathOf(filters.path) }),
          limit: REQUESTS_PAGE,
          after: pageParam,
        },
        signal,
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

/** A request never changes. */
export const request = (id: string) =>
  queryOptions({
    queryKey: ["request", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => Api.get<RequestDetail>(`/requests/${encodeURIComponent(id)}`, {}, signal),
  })

export const stats = (from: string, to: string, groupBy: string) =>
  queryOptions({
    queryKey: ["stats", from, to, groupBy],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => Api.get<Stats>(Paths.stats(from, to, groupBy), {}, signal),
  })

/** The newest templates, for their names. */
export const templates = queryOptions({
  queryKey: ["templates", "named"],
  queryFn: ({ signal }) => Api.get<Page<ListedTemplate>>(Paths.namedTemplates, {}, signal),
})

export const thread = (id: string) =>
  queryOptions({
    queryKey: ["threads", id],
    queryFn: ({ signal }) => Api.get<Thread>(`/threads/${id}`, {}, signal),
  })

/** The newest mail that answers an email. */
export const answerTo = (email_id: string) =>
  queryOptions({
    queryKey: ["received", "of", email_id],
    queryFn: ({ signal }) => Api.get<Page<InboundEmail>>("/inbound", { email_id, limit: 1 }, signal),
  })
