// Written by scripts/client-types.ts out of the contract; a test holds it current.

export type Account = {
  readonly object: "account"
  readonly id: AccountId
  readonly name: string
  readonly plan: Plan
  readonly created_at: Timestamp
  /** How long the bodies of messages are kept */
  readonly content_days: number
  readonly usage: {
    /** The UTC month */
    readonly month: string
    /** Recipients accepted in it; canceled ones are given back */
    readonly emails: number
    readonly resets_at: Timestamp
  }
  readonly limits: {
    /** `null` is unlimited */
    readonly monthly_emails: number | null
    /** Over to, cc and bcc of one message */
    readonly max_recipients: number
    readonly send_per_minute: number
    readonly logs_per_minute: number
    readonly other_per_minute: number
  }
}

export type AccountId = string

export type Acknowledgement = {
  readonly id: EmailId
  readonly status: "queued"
  readonly created_at: Timestamp
}

export type Actor = {
  readonly type: "api_key" | "user" | "operator" | "system"
  readonly id: string | null
}

export type Address = string

/** `ana@example.org` */
export type AddressInput = string

export type ApiKey = {
  readonly object: "api_key"
  readonly id: ApiKeyId
  readonly name: string
  /** The first ten characters of the key */
  readonly prefix: string
  readonly scopes: ReadonlyArray<Scope>
  /** The one domain it is bound to, in everything */
  readonly domain: string | null
  /** Empty: from everywhere */
  readonly allowed_ips: ReadonlyArray<string>
  readonly status: ApiKeyStatus
  readonly created_at: Timestamp
  readonly created_by: string | null
  readonly last_used_at: Timestamp | null
  readonly expires_at: Timestamp | null
  readonly revoked_at: Timestamp | null
}

export type ApiKeyCreation = {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  /** Binds the key to this domain: it sends, reads, changes and makes nothing of another */
  readonly domain?: string | null
  /** Limits the key to these addresses and networks */
  readonly allowed_ips?: ReadonlyArray<string> | null
  /** From then on the key is refused */
  readonly expires_at?: string | null
}

export type ApiKeyId = string

export type ApiKeyRevoked = {
  readonly object: "api_key"
  readonly id: ApiKeyId
  readonly revoked: true
  readonly revoked_at: Timestamp
}

export type ApiKeyStatus = "active" | "expired" | "revoked"

export type Attachment = {
  readonly filename: string
  readonly content: string
  /** Told from the end of the file name when absent */
  readonly content_type?: string | null
  /** Shows the file inside the HTML, which names it as `cid:…` */
  readonly content_id?: string | null
}

export type AuditEntry = {
  readonly object: "audit_entry"
  readonly id: EventId
  readonly position: Position
  /** What was done */
  readonly type: string
  readonly stream: string
  /** To what */
  readonly stream_id: string
  readonly occurred_at: Timestamp
  readonly actor: Actor
  /** From where */
  readonly address: string | null
  readonly request_id: string | null
}

export type Batch = {
  readonly emails: ReadonlyArray<EmailMessage>
  /** `all_or_nothing` unless said otherwise; `permissive` answers each message by itself */
  readonly mode?: "all_or_nothing" | "permissive" | null
}

export type BatchAnswer = {
  readonly object: "batch"
  readonly data: ReadonlyArray<BatchResult>
}

export type BatchResult = {
  readonly index: number
  readonly id: EmailId | null
  readonly status: "queued" | null
  readonly created_at: Timestamp | null
  readonly error: {
    /** Says what to do; one of seven */
    readonly code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error"
    /** For people; its words may change */
    readonly message: string
    /** The finer cause; new ones may appear */
    readonly reason: string
    /** Also in `X-Request-Id`; name it when asking for help */
    readonly request_id: string
    /** All violations, not only the first; empty where there is no field to name */
    readonly details: ReadonlyArray<ErrorDetail>
  } | null
}

export type CreatedApiKey = {
  readonly object: "api_key"
  readonly id: ApiKeyId
  readonly name: string
  /** The first ten characters of the key */
  readonly prefix: string
  readonly scopes: ReadonlyArray<Scope>
  /** The one domain it is bound to, in everything */
  readonly domain: string | null
  /** Empty: from everywhere */
  readonly allowed_ips: ReadonlyArray<string>
  readonly status: ApiKeyStatus
  readonly created_at: Timestamp
  readonly created_by: string | null
  readonly last_used_at: Timestamp | null
  readonly expires_at: Timestamp | null
  readonly revoked_at: Timestamp | null
  /** The key itself. It is shown here and never again. */
  readonly key: string
}

export type DnsRecord = {
  readonly purpose: "dkim" | "return_path" | "spf" | "dmarc" | "tracking"
  readonly type: "TXT" | "CNAME" | "MX"
  /** Relative to the domain, as the forms of DNS providers want it */
  readonly host: string
  readonly name: string
  readonly value: string
  readonly ttl: number
  /** Only the RSA key's DKIM record is required to send; the rest is advice */
  readonly required: boolean
  readonly status: "not_checked" | "verified" | "missing" | "mismatch" | "unavailable"
  readonly found: ReadonlyArray<string>
  /** The classic mistake it looks like, or DNS's own word */
  readonly error: string | null
}

export type Domain = {
  readonly object: "domain"
  readonly id: DomainId
  readonly name: DomainName
  readonly status: DomainStatus
  readonly created_at: Timestamp
  readonly verified_at: Timestamp | null
  readonly last_checked_at: Timestamp | null
  readonly next_check_at: Timestamp | null
  /** Whether its mail tells when it is opened */
  readonly open_tracking: boolean
  /** Whether links in its mail tell when they are followed */
  readonly click_tracking: boolean
  /** The name below it that links lead over while its record is verified; `null` is the service's own */
  readonly tracking_domain: DomainName | null
  readonly records: ReadonlyArray<DnsRecord>
}

export type DomainAddition = {
  readonly name?: DomainNameInput
  readonly domain?: DomainNameInput
}

/** What is left out stays as it is */
export type DomainChange = {
  /** Tell when mail is opened, where a message says nothing else */
  readonly open_tracking?: boolean | null
  /** Tell which links are followed, where a message says nothing else */
  readonly click_tracking?: boolean | null
  /** A name below the domain that links are to lead over, such as links.acme.com; `null` takes it back */
  readonly tracking_domain?: DomainNameInput | null
}

export type DomainDeleted = {
  readonly object: "domain"
  readonly id: DomainId
  readonly name: DomainName
  readonly deleted: true
}

export type DomainId = string

export type DomainName = string

/** A domain name; lower-cased and IDNA-encoded */
export type DomainNameInput = string

export type DomainStatus = "pending" | "verified" | "degraded" | "failed"

export type EmailContent = {
  readonly html: string | null
  readonly text: string | null
  readonly attachments: ReadonlyArray<{
    readonly filename: string
    readonly content_type: string
    readonly content_id: string | null
    readonly size_bytes: number
  }>
}

export type EmailId = string

export type EmailLog = {
  readonly object: "email_log"
  readonly id: EmailId
  /** The Message-ID header */
  readonly message_id: string
  readonly status: EmailStatus
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  readonly reply_to: ReadonlyArray<string>
  readonly subject: string
  readonly tags: ReadonlyArray<string>
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly scheduled_at: Timestamp | null
  readonly delivered_at: Timestamp | null
  readonly next_attempt_at: Timestamp | null
  readonly attempts: number
  readonly opens: number
  readonly clicks: number
  readonly api_key_id: ApiKeyId | null
  readonly domain: string
  readonly size_bytes: number
  /** What stands in the way of the first recipient that has trouble */
  readonly error: EmailTrouble | null
  /** How many events its stream has */
  readonly version: number
  /** How many recipients are in which state; `status` is folded over them */
  readonly recipient_counts: {
    readonly queued?: number
    readonly deferred?: number
    readonly sent?: number
    readonly delivered?: number
    readonly bounced?: number
    readonly failed?: number
    readonly suppressed?: number
    readonly canceled?: number
    readonly complained?: number
  }
  readonly recipients: ReadonlyArray<EmailRecipient>
}

export type EmailLogWithContent = {
  readonly object: "email_log"
  readonly id: EmailId
  /** The Message-ID header */
  readonly message_id: string
  readonly status: EmailStatus
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  readonly reply_to: ReadonlyArray<string>
  readonly subject: string
  readonly tags: ReadonlyArray<string>
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly scheduled_at: Timestamp | null
  readonly delivered_at: Timestamp | null
  readonly next_attempt_at: Timestamp | null
  readonly attempts: number
  readonly opens: number
  readonly clicks: number
  readonly api_key_id: ApiKeyId | null
  readonly domain: string
  readonly size_bytes: number
  /** What stands in the way of the first recipient that has trouble */
  readonly error: EmailTrouble | null
  /** How many events its stream has */
  readonly version: number
  /** How many recipients are in which state; `status` is folded over them */
  readonly recipient_counts: {
    readonly queued?: number
    readonly deferred?: number
    readonly sent?: number
    readonly delivered?: number
    readonly bounced?: number
    readonly failed?: number
    readonly suppressed?: number
    readonly canceled?: number
    readonly complained?: number
  }
  readonly recipients: ReadonlyArray<EmailRecipient>
  /** Whether its opens and clicks are told, as it was decided when it was accepted */
  readonly tracking: {
    readonly opens: boolean
    readonly clicks: boolean
  }
  /** `null` once it is no longer kept */
  readonly content: EmailContent | null
}

export type EmailMessage = {
  /** `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted */
  readonly from: string
  /** 1 to 50 addresses, `a@b.c` or `Name <a@b.c>`; one may stand without an array */
  readonly to: string | ReadonlyArray<string>
  readonly subject: string
  /** With HTML alone, a text part is derived from it */
  readonly html?: string | null
  /** Plain text for readers without HTML; recommended */
  readonly text?: string | null
  /** Seen by all; counts as a recipient */
  readonly cc?: string | ReadonlyArray<string> | null
  /** Seen by nobody; counts as a recipient */
  readonly bcc?: string | ReadonlyArray<string> | null
  /** Where answers go */
  readonly reply_to?: string | ReadonlyArray<string> | null
  /** Headers of your own, without those that the service writes */
  readonly headers?: { readonly [name: string]: string } | null
  /** What to filter the logs by; 1 to 64 characters each */
  readonly tags?: ReadonlyArray<string> | null
  /** When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z` */
  readonly scheduled_at?: string | null
  /** Files, at most 20 */
  readonly attachments?: ReadonlyArray<Attachment> | null
  /** Adds one-click unsubscribe headers (RFC 8058) to mail for one recipient, where the service is reached by https */
  readonly list_unsubscribe?: boolean | null
  /** Whether opens and clicks are told; what is left out is as the domain says */
  readonly tracking?: EmailTracking | null
}

export type EmailRecipient = {
  readonly address: Address
  readonly kind: "to" | "cc" | "bcc"
  readonly status: EmailStatus
  readonly attempts: number
  readonly last_event_at: Timestamp
  readonly suppression: SuppressionReason | null
  readonly smtp: SmtpAnswer | null
}

export type EmailStatus = "queued" | "deferred" | "sent" | "delivered" | "bounced" | "failed" | "suppressed" | "canceled" | "complained"

export type EmailTracking = {
  /** By a picture of one point at the end of the HTML */
  readonly opens?: boolean | null
  /** By links in the HTML that lead over this service */
  readonly clicks?: boolean | null
}

export type EmailTrouble = {
  readonly recipient: string
  readonly status: EmailStatus
  readonly category: string | null
  readonly code: number | null
  readonly enhanced_code: string | null
  readonly message: string | null
}

export type Error = {
  readonly error: {
    /** Says what to do; one of seven */
    readonly code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error"
    /** For people; its words may change */
    readonly message: string
    /** The finer cause; new ones may appear */
    readonly reason: string
    /** Also in `X-Request-Id`; name it when asking for help */
    readonly request_id: string
    /** All violations, not only the first; empty where there is no field to name */
    readonly details: ReadonlyArray<ErrorDetail>
  }
}

export type ErrorDetail = {
  /** The field, as in `to[3]` or `headers.X-Id`; empty for the body itself */
  readonly path: string
  /** What is wrong, worded to follow the name of the field */
  readonly message: string
}

export type Event = {
  readonly object: "event"
  readonly id: EventId
  /** New types may appear; ignore those you do not know */
  readonly type: string
  /** The kind of thing it is about */
  readonly stream: string
  /** Which one: its id, or the address of a suppression */
  readonly stream_id: string
  /** Its place in the history of that thing, from 1 */
  readonly version: number
  readonly position: Position
  readonly occurred_at: Timestamp
  readonly actor: Actor
  readonly request_id: string | null
  readonly data: { readonly [name: string]: unknown }
}

export type EventFeed = {
  readonly object: "list"
  readonly has_more: boolean
  /** The `after_position` of the next request; write it down with what you did */
  readonly next_position: Position
  readonly data: ReadonlyArray<Event>
}

export type EventId = string

export type EventStreamPing = {
  readonly position: Position
}

export type ListedMember = {
  readonly object: "member"
  readonly id: UserId
  readonly email: string
  readonly name: string
  readonly role: MemberRole
  readonly status: "invited" | "active"
  readonly invited_at: Timestamp
  readonly joined_at: Timestamp | null
  /** A second factor or a passkey is set up */
  readonly two_factor: boolean
  readonly last_seen_at: Timestamp | null
}

export type Member = {
  readonly object: "member"
  readonly id: UserId
  readonly email: string
  readonly name: string
  readonly role: MemberRole
  readonly status: "invited" | "active"
  readonly invited_at: Timestamp
  readonly joined_at: Timestamp | null
}

export type MemberInvitation = {
  readonly email: AddressInput
  /** What to call them */
  readonly name?: string | null
  readonly role: MemberRole
}

export type MemberLink = {
  readonly object: "member_link"
  readonly member: Member
  /** Whoever opens it sets the member's password. Shown here and never again; hand it over yourself. */
  readonly url: string | null
  readonly expires_at: Timestamp
}

export type MemberRemoved = {
  readonly object: "member"
  readonly id: UserId
  readonly deleted: true
}

export type MemberRole = "owner" | "member" | "viewer"

/** Not ready: what it waits for */
export type NotReady = {
  readonly status: "unavailable"
  readonly problems: ReadonlyArray<string>
}

export type Ok = {
  readonly status: "ok"
}

export type Plan = "free" | "starter" | "growth" | "business"

/** A place in the account's history. Opaque: give it back as it is, and do not compare or count with it */
export type Position = string

/** Where to go on from: a position that an answer gave, or `0` for the beginning */
export type PositionFrom = string

export type SandboxAttachment = {
  readonly filename: string | null
  readonly content_type: string
  readonly content_id: string | null
  readonly size_bytes: number
  /** The bytes, in base64 */
  readonly content: string
}

export type SandboxEmptied = {
  readonly object: "sandbox"
  /** How many there were */
  readonly deleted: number
}

export type SandboxMessage = {
  readonly object: "sandbox_message"
  /** That of the email */
  readonly id: EmailId
  /** The envelope: who the mail was delivered to */
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  /** The return path */
  readonly mail_from: string
  readonly size_bytes: number
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
}

export type SandboxMessageWhole = {
  readonly object: "sandbox_message"
  /** That of the email */
  readonly id: EmailId
  /** The envelope: who the mail was delivered to */
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  /** The return path */
  readonly mail_from: string
  readonly size_bytes: number
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
  readonly headers: ReadonlyArray<{
    readonly name: string
    readonly value: string
  }>
  readonly html: string | null
  readonly text: string | null
  readonly attachments: ReadonlyArray<SandboxAttachment>
  /** The mail as it would have gone out, signature included, in base64 */
  readonly raw: string
}

export type Scope = "email:send" | "email:logs:read" | "domains:read" | "domains:write" | "webhooks:manage" | "admin"

export type Session = {
  readonly object: "session"
  readonly actor: Actor
  readonly account_id: AccountId
  /** `null` for a key */
  readonly role: MemberRole | null
  readonly scopes: ReadonlyArray<Scope>
  /** The one domain a key is bound to */
  readonly domain: string | null
  /** Runs the instance, and may see all of it */
  readonly operator: boolean
}

export type SmtpAnswer = {
  readonly code: number | null
  readonly enhanced_code: string | null
  readonly response: string | null
  readonly mx: string | null
  readonly tls: string | null
  readonly duration_ms: number | null
  readonly category: string | null
}

export type Stats = {
  readonly object: "stats"
  /** As asked for, rounded down to the hour */
  readonly from: Timestamp
  /** As asked for, rounded up to the hour; not included */
  readonly to: Timestamp
  readonly group_by: ReadonlyArray<"hour" | "day" | "domain" | "tag">
  /** Every event of the account up to here is counted, exactly once; what `GET /events` shows after it will be */
  readonly up_to_position: Position
  /** By tag, an answer shows the first 1000 of the account's tags by name. Whether there are more: ask for one of them with `tag` */
  readonly more_tags: boolean
  /** Oldest first; what has nothing to count has no row */
  readonly data: ReadonlyArray<StatsRow>
}

export type StatsLatency = {
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
}

export type StatsRow = {
  /** When the hour or day begins; `null` unless grouped by one */
  readonly at: Timestamp | null
  /** `null` unless grouped by it */
  readonly domain: string | null
  /** `null` unless grouped by it */
  readonly tag: string | null
  /** Recipients of accepted messages */
  readonly accepted: number
  readonly delivered: number
  /** Attempts that were put off; a recipient may have several */
  readonly deferred: number
  readonly bounced: number
  readonly failed: number
  readonly suppressed: number
  readonly complained: number
  /** Opens that were seen of tracked mail; a message may have several */
  readonly opened: number
  /** Clicks that were seen in tracked mail; a message may have several */
  readonly clicked: number
  /** From acceptance, or the time that it was scheduled for, to delivery; within 5 %. `null` where nothing was delivered */
  readonly latency_ms: StatsLatency | null
}

export type Suppression = {
  readonly object: "suppression"
  readonly id: SuppressionId
  readonly email: string
  readonly reason: SuppressionReason
  /** The message that caused it */
  readonly email_id: EmailId | null
  readonly created_at: Timestamp
}

export type SuppressionAddition = {
  readonly email: AddressInput
  /** `manual` unless said otherwise */
  readonly reason?: SuppressionReason | null
}

export type SuppressionId = string

export type SuppressionReason = "hard_bounce" | "complaint" | "manual" | "unsubscribe"

export type SuppressionRemoved = {
  readonly object: "suppression"
  readonly id: SuppressionId
  readonly email: string
  readonly deleted: true
}

export type Timestamp = string

/** ISO 8601 with an offset or Z; UTC with milliseconds in answers */
export type TimestampInput = string

export type UserId = string

export type Webhook = {
  readonly object: "webhook"
  readonly id: WebhookId
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly description: string | null
  readonly enabled: boolean
  readonly disabled_reason: "manual" | "gone" | "failing" | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export type WebhookAttempt = {
  readonly at: Timestamp
  readonly url: string
  /** The address the name was pinned to */
  readonly address: string | null
  readonly request_headers: { readonly [name: string]: string }
  readonly status: number | null
  readonly response_headers: { readonly [name: string]: string }
  /** The first 4 KB */
  readonly response_body: string | null
  readonly duration_ms: number
  /** Why there was no answer, or no end of it */
  readonly error: string | null
}

/** What is absent stays as it is */
export type WebhookChange = {
  readonly url?: WebhookUrlInput
  readonly events?: ReadonlyArray<WebhookType | "*">
  readonly description?: string | null
  readonly enabled?: boolean
}

export type WebhookCreation = {
  readonly url: WebhookUrlInput
  /** Types to be called for, or `*` for all */
  readonly events: ReadonlyArray<WebhookType | "*">
  /** For people */
  readonly description?: string | null
  /** `true` unless said otherwise */
  readonly enabled?: boolean | null
}

export type WebhookDeleted = {
  readonly object: "webhook"
  readonly id: WebhookId
  readonly deleted: true
}

export type WebhookDelivery = {
  readonly object: "webhook_delivery"
  readonly id: WebhookDeliveryId
  readonly webhook_id: WebhookId
  readonly event_id: EventId
  readonly event_type: string
  readonly status: "pending" | "delivered" | "failed"
  readonly attempts: number
  readonly created_at: Timestamp
  readonly next_attempt_at: Timestamp | null
  readonly delivered_at: Timestamp | null
}

export type WebhookDeliveryDetail = {
  readonly object: "webhook_delivery"
  readonly id: WebhookDeliveryId
  readonly webhook_id: WebhookId
  readonly event_id: EventId
  readonly event_type: string
  readonly status: "pending" | "delivered" | "failed"
  readonly attempts: number
  readonly created_at: Timestamp
  readonly next_attempt_at: Timestamp | null
  readonly delivered_at: Timestamp | null
  /** What every attempt tells, as it is sent: the event as JSON */
  readonly request_body: string
  /** Every attempt, oldest first */
  readonly history: ReadonlyArray<WebhookAttempt>
}

export type WebhookDeliveryId = string

export type WebhookId = string

export type WebhookReplay = {
  readonly object: "webhook_replay"
  readonly webhook_id: WebhookId
  /** How many calls were queued */
  readonly queued: number
  /** More events lie in the range than one replay takes; the next begins at `next_position` */
  readonly has_more: boolean
  /** The `after_position` of the next replay of this range; `null` where all of it is queued */
  readonly next_position: Position | null
}

export type WebhookReplayRange = {
  readonly created_after: TimestampInput
  readonly created_before: TimestampInput
  /** Goes on with a range: the `next_position` of the replay before */
  readonly after_position?: PositionFrom | null
  /** Only these types; all that the webhook subscribes to unless said otherwise */
  readonly events?: ReadonlyArray<WebhookType | "*"> | null
}

export type WebhookType = "email.queued" | "email.sent" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "email.opened" | "email.clicked" | "domain.created" | "domain.verified" | "domain.degraded" | "domain.failed" | "domain.deleted" | "suppression.added" | "suppression.removed" | "api_key.created" | "api_key.revoked" | "webhook.disabled"

/** An https URL, or http to a network that the operator allows (WEBHOOK_ALLOW_NETWORKS) */
export type WebhookUrlInput = string

export type WebhookWithSecret = {
  readonly object: "webhook"
  readonly id: WebhookId
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly description: string | null
  readonly enabled: boolean
  readonly disabled_reason: "manual" | "gone" | "failing" | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  /** Verifies signatures (Standard Webhooks). Shown at creation and rotation only. */
  readonly secret: string
}
