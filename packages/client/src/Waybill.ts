import { paginate } from "./paginate.ts"
import { type Call, type Options, sender } from "./request.ts"
import type * as T from "./types.ts"

export { isWellFormedKey } from "./apiKey.ts"
export type { Options } from "./request.ts"
export type * from "./types.ts"
export { verifyWebhook, type WebhookEvent } from "./verifyWebhook.ts"
export { WaybillError } from "./WaybillError.ts"

export interface Once {
  /** Makes the call happen once, however often it is sent; a fresh one when absent. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export interface Page<A> {
  readonly object: "list"
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly data: readonly A[]
}

export interface LogsQuery {
  readonly limit?: number
  readonly status?: T.EmailStatus | readonly T.EmailStatus[]
  readonly after?: string
  readonly before?: string
  readonly to?: string
  readonly from?: string
  readonly subject?: string
  readonly tag?: string | readonly string[]
  readonly domain?: string
  readonly created_after?: string
  readonly created_before?: string
}

export interface EventsQuery {
  readonly after_position?: number
  readonly types?: readonly string[]
  readonly limit?: number
}

/** `new Waybill("wb_…")`: every endpoint of the API, with retries, idempotency and paging taken care of. */
export class Waybill {
  readonly #call: <A>(call: Call) => Promise<A>

  constructor(apiKey: string, options: Options = {}) {
    this.#call = sender(apiKey, options)
  }

  readonly emails = {
    send: (email: T.EmailMessage, once?: Once) => this.#post<T.Acknowledgement>("/email/send", email, once),
    /** Up to 100 at once; `permissive` gives each its own answer. */
    sendBatch: (
      emails: readonly T.EmailMessage[],
      options?: Once & { readonly mode?: "all_or_nothing" | "permissive" },
    ) => this.#post<T.BatchAnswer>("/email/send/batch", { emails, mode: options?.mode ?? "all_or_nothing" }, options),
    cancel: (id: string, once?: Once) => this.#post<T.EmailLog>(`/email/${path(id)}/cancel`, undefined, once),
    reschedule: (id: string, scheduled_at: string) =>
      this.#call<T.EmailLog>({ method: "PATCH", path: `/email/${path(id)}`, body: { scheduled_at } }),
    resend: (id: string, once?: Once) => this.#post<T.Acknowledgement>(`/email/${path(id)}/resend`, undefined, once),
  }

  readonly logs = {
    list: (query: LogsQuery = {}) => this.#get<Page<T.EmailLog>>("/email/logs", logsQuery(query)),
    /** Every message that fits, newest first, page after page. */
    all: (query: LogsQuery = {}) => paginate((after) => this.logs.list({ ...query, limit: 100, ...after })),
    get: (id: string) => this.#get<T.EmailLogWithContent>(`/email/logs/${path(id)}`),
    /** The timeline: every fact about the message. */
    events: (id: string) => this.#get<Page<T.Event>>(`/email/logs/${path(id)}/events`),
  }

  readonly domains = {
    list: () => this.#get<Page<T.Domain>>("/domains"),
    get: (domain: string) => this.#get<T.Domain>(`/domains/${path(domain)}`),
    add: (name: string, once?: Once) => this.#post<T.Domain>("/domains", { name }, once),
    verify: (domain: string) => this.#post<T.Domain>(`/domains/${path(domain)}/verify`),
    rotateDkim: (domain: string, once?: Once) =>
      this.#post<T.Domain>(`/domains/${path(domain)}/dkim/rotate`, undefined, once),
    remove: (domain: string) => this.#delete<T.DomainDeleted>(`/domains/${path(domain)}`),
  }

  readonly apiKeys = {
    list: () => this.#get<Page<T.ApiKey>>("/api-keys"),
    get: (id: string) => this.#get<T.ApiKey>(`/api-keys/${path(id)}`),
    /** The only answer that holds the key itself. */
    create: (key: T.ApiKeyCreation, once?: Once) => this.#post<T.CreatedApiKey>("/api-keys", key, once),
    revoke: (id: string) => this.#delete<T.ApiKeyRevoked>(`/api-keys/${path(id)}`),
  }

  readonly webhooks = {
    list: () => this.#get<Page<T.Webhook>>("/webhooks"),
    get: (id: string) => this.#get<T.Webhook>(`/webhooks/${path(id)}`),
    /** The only answer, beside a rotation's, that holds the secret. */
    create: (webhook: T.WebhookCreation, once?: Once) => this.#post<T.WebhookWithSecret>("/webhooks", webhook, once),
    update: (id: string, change: T.WebhookChange) =>
      this.#call<T.Webhook>({ method: "PATCH", path: `/webhooks/${path(id)}`, body: change }),
    remove: (id: string) => this.#delete<T.WebhookDeleted>(`/webhooks/${path(id)}`),
    test: (id: string, once?: Once) => this.#post<T.WebhookDelivery>(`/webhooks/${path(id)}/test`, undefined, once),
    rotateSecret: (id: string, once?: Once) =>
      this.#post<T.WebhookWithSecret>(`/webhooks/${path(id)}/rotate-secret`, undefined, once),
    deliveries: (id: string, query: { readonly limit?: number; readonly after?: string } = {}) =>
      this.#get<Page<T.WebhookDelivery>>(`/webhooks/${path(id)}/deliveries`, query),
    allDeliveries: (id: string) => paginate((after) => this.webhooks.deliveries(id, { limit: 100, ...after })),
    delivery: (id: string, delivery: string) =>
      this.#get<T.WebhookDeliveryDetail>(`/webhooks/${path(id)}/deliveries/${path(delivery)}`),
    replayDelivery: (id: string, delivery: string, once?: Once) =>
      this.#post<T.WebhookDelivery>(`/webhooks/${path(id)}/deliveries/${path(delivery)}/replay`, undefined, once),
    replay: (id: string, range: T.WebhookReplayRange, once?: Once) =>
      this.#post<T.WebhookReplay>(`/webhooks/${path(id)}/replay`, range, once),
  }

  readonly suppressions = {
    list: (query: { readonly limit?: number; readonly after?: string } = {}) =>
      this.#get<Page<T.Suppression>>("/suppressions", query),
    all: () => paginate((after) => this.suppressions.list({ limit: 100, ...after })),
    get: (email: string) => this.#get<T.Suppression>(`/suppressions/${path(email)}`),
    add: (suppression: T.SuppressionAddition, once?: Once) =>
      this.#post<T.Suppression>("/suppressions", suppression, once),
    remove: (email: string) => this.#delete<T.SuppressionRemoved>(`/suppressions/${path(email)}`),
  }

  readonly account = { get: () => this.#get<T.Account>("/account") }

  readonly events = {
    /** The account's history in order; go on with `next_position`. */
    list: ({ types, ...query }: EventsQuery = {}) =>
      this.#get<T.EventFeed>("/events", { ...query, ...(types === undefined ? {} : { types: types.join(",") }) }),
  }

  readonly audit = {
    list: (query: { readonly limit?: number; readonly after?: string } = {}) =>
      this.#get<Page<T.AuditEntry>>("/audit", query),
    all: () => paginate((after) => this.audit.list({ limit: 100, ...after })),
  }

  /** Captured mail, for test suites; there while the service's transport is `capture`. */
  readonly sandbox = {
    list: (
      query: { readonly limit?: number; readonly after?: string; readonly to?: string; readonly wait?: string } = {},
    ) => this.#get<Page<T.SandboxMessage>>("/sandbox/messages", query),
    /** The newest mail to an address, as soon as there is one; undefined when none comes in time. */
    waitFor: async (to: string, seconds = 10): Promise<T.SandboxMessageWhole | undefined> => {
      const [newest] = (await this.sandbox.list({ to, limit: 1, wait: `${seconds}s` })).data
      return newest === undefined ? undefined : this.sandbox.get(newest.id)
    },
    get: (id: string) => this.#get<T.SandboxMessageWhole>(`/sandbox/messages/${path(id)}`),
    remove: (id: string) => this.#delete<T.SandboxEmptied>(`/sandbox/messages/${path(id)}`),
    clear: () => this.#delete<T.SandboxEmptied>("/sandbox/messages"),
  }

  #get<A>(path: string, query?: Call["query"]): Promise<A> {
    return this.#call({ method: "GET", path, ...(query === undefined ? {} : { query }) })
  }

  #delete<A>(path: string): Promise<A> {
    return this.#call({ method: "DELETE", path })
  }

  #post<A>(path: string, body?: unknown, once: Once = {}): Promise<A> {
    const { idempotencyKey = crypto.randomUUID(), signal } = once
    return this.#call({ method: "POST", path, body, idempotencyKey, ...(signal === undefined ? {} : { signal }) })
  }
}

const path = (part: string): string => encodeURIComponent(part)

const logsQuery = ({ status, tag, ...query }: LogsQuery): NonNullable<Call["query"]> => ({
  ...query,
  ...(status === undefined ? {} : { status: [status].flat().join(",") }),
  ...(tag === undefined ? {} : { tag: [tag].flat() }),
})
