import { infiniteQueryOptions, keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query"
import * as Api from "./Api.ts"
import { ApiError } from "./ApiError.ts"
import * as Auth from "./Auth.ts"
import * as Mode from "./Mode.ts"
import * as Paths from "./Paths.ts"
import { pathOf, type RequestFilters } from "./RequestFilters.ts"
import type * as Records from "./Records.ts"

/** Age up to which cached data is shown without refetching. */
const STALE_MS = 10_000
const RETRIES = 2
const RETRY_MS = 800

/** Whether the same request may succeed later: the server did not answer, or failed. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500)

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // Other errors would repeat.
      retry: (failures, error) => failures < RETRIES && (!(error instanceof ApiError) || isPassing(error)),
      retryDelay: RETRY_MS,
    },
  },
})

/** Query of what a path answers. */
export const read = <A>(queryKey: ReadonlyArray<unknown>, path: string, query: Paths.Query = {}) =>
  queryOptions({ queryKey, queryFn: ({ signal }) => Api.get<A>(path, query, signal) })

/** Query of what never changes. */
export const readOnce = <A>(queryKey: ReadonlyArray<unknown>, path: string) => ({
  ...read<A>(queryKey, path),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Query of a list, page by page. */
export const pages = <P extends Records.Page<unknown>>(
  queryKey: ReadonlyArray<unknown>,
  readPage: (after: string | undefined, signal: AbortSignal) => Promise<P>,
) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

/** Query of the list at a path. */
export const listOf = <P extends Records.Page<unknown>>(
  queryKey: ReadonlyArray<unknown>,
  path: string,
  query: Paths.Query,
) => pages(queryKey, (after, signal) => Api.get<P>(path, { ...query, limit: Paths.PAGE, after }, signal))

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

export const account = read<Records.Account>(["account"], "/account")

export const apiKeys = read<Records.Page<Records.ApiKey>>(["api-keys"], "/api-keys")

export const domains = read<Records.Page<Records.Domain>>(["domains"], "/domains")

export const domain = (name: string) => read<Records.Domain>(["domains", name], `/domains/${encodeURIComponent(name)}`)

export const RECENT_EMAILS = 6
export const recentEmails = read<Records.Page<Records.Email>>(["recent"], "/email/logs", { limit: RECENT_EMAILS })

/** Numbers of unfinished emails. */
export const queue = read<Records.AccountQueue>(["queue"], "/dashboard/queue")

export const newestReceived = read<Records.Page<Records.InboundEmail>>(["newest-received"], "/inbound", { limit: 1 })

export const email = (id: string) => read<Records.EmailWithContent>(["email", id], `/email/logs/${id}`)

export const emailEvents = (id: string) =>
  read<Records.Page<Records.EventRecord>>(["email", id, "events"], `/email/logs/${id}/events`)

export const savedViews = read<{ readonly data: ReadonlyArray<Records.SavedView> }>(["saved-views"], "/dashboard/views")

export const sandboxPage = (q: string, after: string | undefined, signal?: AbortSignal) =>
  Api.get<Records.Page<Records.SandboxMessage>>("/sandbox/messages", { limit: Paths.PAGE, after, q }, signal)

/** The mail of the sandbox that a search finds; all of it for an empty one. */
export const sandbox = (q: string) => pages(["sandbox", "list", q], (after, signal) => sandboxPage(q, after, signal))

export const sandboxMessage = (id: string) =>
  readOnce<Records.SandboxMessageWithContent>(["sandbox", id], `/sandbox/messages/${id}`)

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

export const webhooks = read<Records.Page<Records.Webhook>>(["webhooks"], "/webhooks")

export const webhook = (id: string) => read<Records.Webhook>(["webhooks", id], `/webhooks/${id}`)

/** Key of all lists of the deliveries of a webhook, whatever their filter. */
export const deliveriesOf = (id: string) => ["webhooks", id, "deliveries"]

export const deliveries = (id: string, filter: { readonly status?: string; readonly called?: "true" }) =>
  listOf<Records.Page<Records.Delivery>>([...deliveriesOf(id), "list", filter], `/webhooks/${id}/deliveries`, {
    ...filter,
  })

export const delivery = (webhookId: string, id: string) =>
  read<Records.DeliveryDetail>(["webhooks", webhookId, "deliveries", id], `/webhooks/${webhookId}/deliveries/${id}`)

/** Key of all lists of suppressions, whatever their filters. */
export const SUPPRESSIONS = ["suppressions"]

export interface SuppressionFilters {
  readonly q?: string
  readonly reason?: string
  readonly source?: string
  readonly created_after?: string
}

export const suppressions = (filters: SuppressionFilters = {}) =>
  listOf<Records.Page<Records.Suppression>>([...SUPPRESSIONS, filters], "/suppressions", { ...filters })

/** The current suppression of an address; null if it is not suppressed. A list, because a missing one is no error. */
export const suppressionOf = (address: string) =>
  queryOptions({
    queryKey: [...SUPPRESSIONS, "of", address],
    queryFn: async ({ signal }) => {
      const found = await Api.get<Records.Page<Records.Suppression>>(
        "/suppressions",
        { q: address, limit: Paths.PAGE },
        signal,
      )
      return found.data.find(({ email }) => email.toLowerCase() === address.toLowerCase()) ?? null
    },
  })

export const members = read<Records.Page<Records.Member>>(["members"], "/members")

interface AuditFilters {
  readonly q?: string
  readonly stream?: string
  readonly actor_id?: string
  readonly created_after?: string
}

export const audit = (filters: AuditFilters = {}) =>
  listOf<Records.Page<Records.AuditEntry>>(["audit", filters], "/audit", { ...filters })

export const requests = (filters: RequestFilters) =>
  listOf<Records.Page<Records.Request> & { readonly not_kept: ReadonlyArray<Records.NotKeptRequests> }>(
    ["requests", filters],
    "/requests",
    {
      ...filters,
      ...(filters.path === undefined ? {} : { path: pathOf(filters.path) }),
    },
  )

/** A request never changes. */
export const request = (id: string) =>
  readOnce<Records.RequestDetail>(["request", id], `/requests/${encodeURIComponent(id)}`)

export const stats = (from: string, to: string, groupBy: string) => ({
  ...read<Records.Stats>(["stats", from, to, groupBy], "/stats", { from, to, group_by: groupBy }),
  placeholderData: keepPreviousData,
})

/** Templates that are known by name; a list shows the ids of others. */
const MAX_NAMED_TEMPLATES = 100
/** The newest templates, for their names. */
export const templates = read<Records.Page<Records.ListedTemplate>>(["templates", "named"], "/templates", {
  kind: "template",
  limit: MAX_NAMED_TEMPLATES,
})

export const thread = (id: string) => read<Records.Thread>(["threads", id], `/threads/${id}`)

/** The newest mail that answers an email. */
export const answerTo = (email_id: string) =>
  read<Records.Page<Records.InboundEmail>>(["received", "of", email_id], "/inbound", { email_id, limit: 1 })
