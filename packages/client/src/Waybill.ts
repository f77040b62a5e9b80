import type { LogsPage, Page, WithDates, WriteOptions } from "./CallTypes.ts"
import { paginate } from "./paginate.ts"
import {
  type BatchOptions,
  type MessageInput,
  prepareMessage,
  type Send,
  type SendBatch,
  type TemplatedInput,
} from "./prepareMessage.ts"
import { type Safe, safely } from "./safely.ts"
import { type Call, type Options, type Sender, sender } from "./Sender.ts"
import { type StreamQuery, streamEvents } from "./streamEvents.ts"
import { templateCalls } from "./templateCalls.ts"
import type * as T from "./types.ts"

export type { LogsPage, Page, WriteOptions } from "./CallTypes.ts"
export type { AttachmentInput } from "./encodeAttachment.ts"
export { isWellFormedKey } from "./isWellFormedKey.ts"
export type {
  BatchOptions,
  MessageInput,
  MessageWithBody,
  MessageWithoutBody,
  Send,
  SendBatch,
  TemplatedInput,
  TemplateTypes,
} from "./prepareMessage.ts"
export type { ReactElementLike } from "./renderReact.ts"
export type { Result } from "./safely.ts"
export type { Options } from "./Sender.ts"
export type { StreamQuery } from "./streamEvents.ts"
export type * from "./types.ts"
export { verifyWebhook, type WebhookEvent } from "./verifyWebhook.ts"
export { WaybillError } from "./WaybillError.ts"

const LARGEST_PAGE = 100
const LARGEST_FEED_PAGE = 1_000
const LARGEST_SUPPRESSIONS_PAGE = 1_000
/** Pause between looks at a test clock whose advance takes longer than one answer. */
const CLOCK_POLL_MS = 500

/**
 * The client: `new Waybill()` with the key in `WAYBILL_KEY`, or `new Waybill("wb_…")`. Covers every endpoint of the
 * API and handles retries, idempotency, paging and streaming.
 */
export class Waybill {
  readonly #sender: Sender
  #safe: Safe<Waybill> | undefined

  constructor(apiKey?: string, options: Options = {}) {
    this.#sender = sender(apiKey, options)
  }

  /** All methods, which here return `{ data, error }` rather than throw: `waybill.safe.emails.send(…)`. */
  get safe(): Safe<Waybill> {
    return (this.#safe ??= safely<Waybill>(this))
  }

  readonly emails = {
    /** Sends an email. One without `html`, `text`, `react` and `template` is accepted, and arrives empty. */
    send: (async (email: MessageInput | TemplatedInput, options?: WriteOptions) =>
      this.#post<T.Acknowledgement>("/email/send", await prepareMessage(email), options)) as Send,
    /** Sends up to 100 emails. In `permissive` mode each is accepted or refused separately. */
    sendBatch: (async (
      messages: readonly (MessageInput | TemplatedInput)[],
      { mode = "all_or_nothing", ...options }: BatchOptions = {},
    ) => {
      const emails = await Promise.all(messages.map((email, i) => prepareMessage(email, `emails[${i}].`)))
      return this.#post<T.BatchAnswer>("/email/send/batch", { emails, mode }, options)
    }) as SendBatch,
    /** Like `logs.get`, also for a key that may only send; such a key sees the content of mail that it sent itself. */
    get: (id: string, query: { readonly as_of?: string | Date } = {}) =>
      this.#get<T.EmailLogWithContent>(`/email/${path(id)}`, query),
    cancel: (id: string, options?: WriteOptions) =>
      this.#post<T.EmailLog>(`/email/${path(id)}/cancel`, undefined, options),
    reschedule: (id: string, scheduled_at: string | Date) =>
      this.#sender.send<T.EmailLog>({ method: "PATCH", path: `/email/${path(id)}`, body: { scheduled_at } }),
    resend: (id: string, options?: WriteOptions) =>
      this.#post<T.Acknowledgement>(`/email/${path(id)}/resend`, undefined, options),
    /** Returns what happened to the email with a proof that anybody can check. `redact` hides fields, as `recipient,subject`. */
    receipt: (id: string, query: { readonly redact?: string } = {}) =>
      this.#get<T.Receipt>(`/email/${path(id)}/receipt`, query),
  }

  readonly logs = {
    list: (query: T.LogsQuery = {}) => this.#get<LogsPage>("/email/logs", logsQuery(query)),
    /** Iterates over all matching messages, newest first; with `before`, from that message towards newer ones. */
    all: ({ after: from, ...query }: T.LogsQuery = {}) =>
      query.before === undefined
        ? paginate((after) => this.logs.list({ ...query, limit: LARGEST_PAGE, after }), from)
        : paginate(async (before) => {
            const page = await this.logs.list({ ...query, limit: LARGEST_PAGE, after: from, before })
            return { ...page, data: page.data.toReversed() }
          }, query.before),
    /** With `as_of`, returns the record as it was at that time. */
    get: (id: string, query: { readonly as_of?: string | Date } = {}) =>
      this.#get<T.EmailLogWithContent>(`/email/logs/${path(id)}`, query),
    /** Returns the timeline: all events of the message. */
    events: (id: string) => this.#get<Page<T.Event>>(`/email/logs/${path(id)}/events`),
  }

  readonly domains = {
    list: () => this.#get<Page<T.Domain>>("/domains"),
    get: (domain: string) => this.#get<T.Domain>(`/domains/${path(domain)}`),
    /** Shows who sends mail in the name of the domain, as receivers report it. */
    dmarc: (domain: string, query: T.DomainReportsQuery = {}) =>
      this.#get<T.DmarcReports>(`/domains/${path(domain)}/dmarc`, { ...query }),
    /** Shows whether other mail servers could deliver to the domain with TLS, as they report it. */
    tls: (domain: string, query: T.DomainReportsQuery = {}) =>
      this.#get<T.TlsReports>(`/domains/${path(domain)}/tls`, { ...query }),
    add: (name: string, options?: WriteOptions) => this.#post<T.Domain>("/domains", { name }, options),
    verify: (domain: string) => this.#post<T.Domain>(`/domains/${path(domain)}/verify`),
    rotateDkim: (domain: string, options?: WriteOptions) =>
      this.#post<T.Domain>(`/domains/${path(domain)}/dkim/rotate`, undefined, options),
    /** Adds a second DKIM key, which signs once its DNS record is published. A domain that has one keeps it. */
    addEd25519: (domain: string, options?: WriteOptions) =>
      this.#post<T.Domain>(`/domains/${path(domain)}/dkim/ed25519`, undefined, options),
    rotateEd25519: (domain: string, options?: WriteOptions) =>
      this.#post<T.Domain>(`/domains/${path(domain)}/dkim/ed25519/rotate`, undefined, options),
    removeEd25519: (domain: string) => this.#delete<T.Domain>(`/domains/${path(domain)}/dkim/ed25519`),
    /** Turns open and click tracking on or off, or sets the tracking domain. */
    update: (domain: string, change: T.DomainChange) =>
      this.#sender.send<T.Domain>({ method: "PATCH", path: `/domains/${path(domain)}`, body: change }),
    remove: (domain: string) => this.#delete<T.DomainDeleted>(`/domains/${path(domain)}`),
  }

  readonly apiKeys = {
    list: () => this.#get<Page<T.ApiKey>>("/api-keys"),
    get: (id: string) => this.#get<T.ApiKey>(`/api-keys/${path(id)}`),
    /** The only response that contains the key itself. */
    create: (key: WithDates<T.ApiKeyCreation, "expires_at">, options?: WriteOptions) =>
      this.#post<T.CreatedApiKey>("/api-keys", key, options),
    revoke: (id: string) => this.#delete<T.ApiKeyRevoked>(`/api-keys/${path(id)}`),
  }

  readonly webhooks = {
    list: () => this.#get<Page<T.ListedWebhook>>("/webhooks"),
    get: (id: string) => this.#get<T.Webhook>(`/webhooks/${path(id)}`),
    /** The only response with the secret, besides `rotateSecret`. */
    create: (webhook: T.WebhookCreation, options?: WriteOptions) =>
      this.#post<T.WebhookWithSecret>("/webhooks", webhook, options),
    update: (id: string, change: T.WebhookChange) =>
      this.#sender.send<T.Webhook>({ method: "PATCH", path: `/webhooks/${path(id)}`, body: change }),
    remove: (id: string) => this.#delete<T.WebhookDeleted>(`/webhooks/${path(id)}`),
    test: (id: string, options?: WriteOptions) =>
      this.#post<T.WebhookDelivery>(`/webhooks/${path(id)}/test`, undefined, options),
    rotateSecret: (id: string, options?: WriteOptions) =>
      this.#post<T.WebhookWithSecret>(`/webhooks/${path(id)}/rotate-secret`, undefined, options),
    deliveries: (id: string, query: T.WebhookDeliveriesQuery = {}) =>
      this.#get<Page<T.WebhookDelivery>>(`/webhooks/${path(id)}/deliveries`, { ...query }),
    allDeliveries: (id: string, query: Omit<T.WebhookDeliveriesQuery, "after" | "limit"> = {}) =>
      paginate((after) => this.webhooks.deliveries(id, { ...query, limit: LARGEST_PAGE, after })),
    delivery: (id: string, delivery: string) =>
      this.#get<T.WebhookDeliveryDetail>(`/webhooks/${path(id)}/deliveries/${path(delivery)}`),
    replayDelivery: (id: string, delivery: string, options?: WriteOptions) =>
      this.#post<T.WebhookDelivery>(`/webhooks/${path(id)}/deliveries/${path(delivery)}/replay`, undefined, options),
    replay: (
      id: string,
      range: WithDates<T.WebhookReplayRange, "created_after" | "created_before">,
      options?: WriteOptions,
    ) => this.#post<T.WebhookReplay>(`/webhooks/${path(id)}/replay`, range, options),
  }

  readonly templates = templateCalls(() => this.#sender)

  /** Mail that came in for the domains of the account. */
  readonly inbound = {
    list: (query: T.InboundQuery = {}) => this.#get<Page<T.InboundEmail>>("/inbound", { ...query }),
    /** Iterates over all matching mails, newest first. */
    all: (query: Omit<T.InboundQuery, "after" | "before" | "limit"> = {}) =>
      paginate((after) => this.inbound.list({ ...query, limit: LARGEST_PAGE, after })),
    get: (id: string) => this.#get<T.InboundEmailWhole>(`/inbound/${path(id)}`),
    /** The mail as it came. */
    raw: (id: string) => this.#bytes(`/inbound/${path(id)}/raw`),
    /** The bytes of a file, by the `id` that the record gives it. */
    attachment: (id: string, attachment: string) => this.#bytes(`/inbound/${path(id)}/attachments/${path(attachment)}`),
    /** Returns what happened to the mail with a proof that anybody can check. */
    receipt: (id: string, query: { readonly redact?: string } = {}) =>
      this.#get<T.Receipt>(`/inbound/${path(id)}/receipt`, query),
    remove: (id: string) => this.#delete<T.InboundEmailDeleted>(`/inbound/${path(id)}`),
    /** Records a made-up mail as if it had come over SMTP, for tests. */
    test: (mail: T.InboundTest, options?: WriteOptions) => this.#post<T.InboundEmail>("/test/inbound", mail, options),
    /** Applies the routes again as if the mail had just come, and calls the webhooks. */
    replay: (id: string, options?: WriteOptions) =>
      this.#post<T.InboundEmail>(`/inbound/${path(id)}/replay`, undefined, options),
    /** Sends an answer, whose recipient, subject and thread follow from the mail. */
    reply: (id: string, reply: T.InboundReply, options?: WriteOptions) =>
      this.#post<T.Acknowledgement>(`/inbound/${path(id)}/reply`, reply, options),
    /** Sends a received mail on as it came. */
    forward: (id: string, to: T.InboundForwarding["to"], options?: WriteOptions) =>
      this.#post<T.Acknowledgement>(`/inbound/${path(id)}/forward`, { to }, options),
    /** Rules for what happens to received mail. */
    routes: {
      /** All routes, in the order in which they are tried. */
      list: () => this.#get<Page<T.InboundRoute>>("/inbound/routes"),
      get: (id: string) => this.#get<T.InboundRoute>(`/inbound/routes/${path(id)}`),
      create: (route: T.InboundRouteCreation, options?: WriteOptions) =>
        this.#post<T.InboundRoute>("/inbound/routes", route, options),
      update: (id: string, change: T.InboundRouteChange) =>
        this.#sender.send<T.InboundRoute>({ method: "PATCH", path: `/inbound/routes/${path(id)}`, body: change }),
      remove: (id: string) => this.#delete<T.InboundRouteDeleted>(`/inbound/routes/${path(id)}`),
      /** Says which routes would apply to a mail, and why. */
      test: (mail: T.InboundRouteTrial, options?: WriteOptions) =>
        this.#post<T.InboundRouteTest>("/inbound/routes/test", mail, options),
    },
  }

  /** A conversation: a sent email and the mail that answers it, in order. */
  readonly threads = {
    get: (id: string) => this.#get<T.Thread>(`/threads/${path(id)}`),
  }

  readonly suppressions = {
    list: (query: T.SuppressionsQuery = {}) => this.#get<Page<T.Suppression>>("/suppressions", { ...query }),
    all: (query: Omit<T.SuppressionsQuery, "after" | "limit"> = {}) =>
      paginate((after) => this.suppressions.list({ ...query, limit: LARGEST_SUPPRESSIONS_PAGE, after })),
    get: (email: string) => this.#get<T.Suppression>(`/suppressions/${path(email)}`),
    add: (suppression: T.SuppressionAddition, options?: WriteOptions) =>
      this.#post<T.Suppression>("/suppressions", suppression, options),
    /** Adds or removes up to 1,000 addresses. A text that is not an address is rejected alone. */
    batch: (batch: T.SuppressionBatch, options?: WriteOptions) =>
      this.#post<T.SuppressionBatchAnswer>("/suppressions/batch", batch, options),
    remove: (email: string) => this.#delete<T.SuppressionRemoved>(`/suppressions/${path(email)}`),
  }

  readonly account = { get: () => this.#get<T.Account>("/account") }

  /** The permissions of this key. */
  readonly session = { get: () => this.#get<T.Session>("/session") }

  /** Users who sign in to the dashboard for this account. */
  readonly members = {
    list: () => this.#get<Page<T.ListedMember>>("/members"),
    /** The response contains the member's sign-in link. */
    invite: (member: T.MemberInvitation, options?: WriteOptions) =>
      this.#post<T.MemberLink>("/members", member, options),
    changeRole: (id: string, role: T.MemberRole) =>
      this.#sender.send<T.Member>({ method: "PATCH", path: `/members/${path(id)}`, body: { role } }),
    makeLink: (id: string, options?: WriteOptions) =>
      this.#post<T.MemberLink>(`/members/${path(id)}/link`, undefined, options),
    remove: (id: string) => this.#delete<T.MemberRemoved>(`/members/${path(id)}`),
  }

  readonly stats = {
    get: (query: T.StatsQuery = {}) => this.#get<T.Stats>("/stats", { ...query }),
  }

  readonly events = {
    /** Returns events in order. Continue with `next_position`. */
    list: (query: T.EventsQuery = {}) => this.#get<T.EventFeed>("/events", { ...query }),
    /** Iterates over all existing events after a position. */
    all: ({ after_position: from, types }: Pick<T.EventsQuery, "after_position" | "types"> = {}) =>
      paginate(async (after_position: string | undefined) => {
        const page = await this.events.list({ after_position, types, limit: LARGEST_FEED_PAGE })
        return { ...page, next_cursor: page.next_position }
      }, from),
    /** Iterates over events as they happen, without end. Reconnects after a lost connection. */
    stream: (query: StreamQuery = {}) => streamEvents(this.#sender, query),
  }

  readonly audit = {
    list: (query: T.AuditQuery = {}) => this.#get<Page<T.AuditEntry>>("/audit", { ...query }),
    all: ({ after: from, ...query }: T.AuditQuery = {}) =>
      paginate((after) => this.audit.list({ ...query, limit: LARGEST_PAGE, after }), from),
  }

  /** The log of API requests, with masked bodies. */
  readonly requests = {
    list: (query: T.RequestsQuery = {}) => this.#get<Page<T.Request>>("/requests", { ...query }),
    all: ({ after: from, ...query }: T.RequestsQuery = {}) =>
      paginate((after) => this.requests.list({ ...query, limit: LARGEST_PAGE, after }), from),
    get: (id: string) => this.#get<T.RequestDetail>(`/requests/${path(id)}`),
  }

  /** Clocks whose time moves when a test says so, for mail of test keys. */
  readonly testClocks = {
    list: () => this.#get<Page<T.TestClock>>("/test/clocks"),
    get: (id: string) => this.#get<T.TestClock>(`/test/clocks/${path(id)}`),
    create: (clock: WithDates<T.TestClockCreation, "now"> = {}, options?: WriteOptions) =>
      this.#post<T.TestClock>("/test/clocks", clock, options),
    /** Moves a clock by an ISO 8601 duration such as `P3D`, or to a time. Resolves when all that was due is done. */
    advance: async (
      id: string,
      target: WithDates<T.TestClockAdvance, "to">,
      options?: WriteOptions,
    ): Promise<T.TestClock> => {
      let clock = await this.#post<T.TestClock>(`/test/clocks/${path(id)}/advance`, target, options)
      while (clock.status === "advancing") {
        await new Promise((resolve) => setTimeout(resolve, CLOCK_POLL_MS))
        clock = await this.testClocks.get(id)
      }
      return clock
    },
    remove: (id: string) => this.#delete<T.TestClockDeleted>(`/test/clocks/${path(id)}`),
  }

  /** Mail of the sandbox, for test suites. Available while the service's `TRANSPORT` is `sandbox`. */
  readonly sandbox = {
    list: (query: T.SandboxQuery = {}) => this.#get<Page<T.SandboxMessage>>("/sandbox/messages", { ...query }),
    all: (query: Pick<T.SandboxQuery, "to"> = {}) =>
      paginate((after) => this.sandbox.list({ ...query, limit: LARGEST_PAGE, after })),
    /**
     * Returns the newest message to an address and waits for one if there is none, up to 60 seconds; then undefined.
     */
    waitFor: async (to: string, seconds = 10): Promise<T.SandboxMessageWhole | undefined> => {
      const [newest] = (await this.sandbox.list({ to, limit: 1, wait: `${seconds}s` })).data
      return newest === undefined ? undefined : this.sandbox.get(newest.id)
    },
    get: (id: string) => this.#get<T.SandboxMessageWhole>(`/sandbox/messages/${path(id)}`),
    remove: (id: string) => this.#delete<T.SandboxEmptied>(`/sandbox/messages/${path(id)}`),
    clear: () => this.#delete<T.SandboxEmptied>("/sandbox/messages"),
  }

  #get<A>(path: string, query?: Call["query"]): Promise<A> {
    return this.#sender.send({ method: "GET", path, ...(query === undefined ? {} : { query }) })
  }

  /** Reads bytes instead of JSON. */
  async #bytes(path: string): Promise<ArrayBuffer> {
    const { response, timeout } = await this.#sender.open({ method: "GET", path })
    try {
      return await response.arrayBuffer()
    } finally {
      timeout.end()
    }
  }

  #delete<A>(path: string): Promise<A> {
    return this.#sender.send({ method: "DELETE", path })
  }

  #post<A>(path: string, body?: unknown, options: WriteOptions = {}): Promise<A> {
    const { idempotencyKey = crypto.randomUUID(), signal } = options
    return this.#sender.send({
      method: "POST",
      path,
      body,
      idempotencyKey,
      ...(signal === undefined ? {} : { signal }),
    })
  }
}

const path = (part: string): string => encodeURIComponent(part)

const logsQuery = ({ metadata = {}, ...query }: T.LogsQuery): NonNullable<Call["query"]> => ({
  ...query,
  ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value])),
})
