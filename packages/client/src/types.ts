// Generated from the API by npm run generate. A test checks that it is current.

export type Account = {
  readonly object: "account"
  readonly id: AccountId
  /** False for a test key: usage and limits are those of test mail */
  readonly livemode: boolean
  readonly name: string
  readonly plan: Plan
  readonly created_at: Timestamp
  /** Mail to any address of this domain is received for the account */
  readonly inbound_domain: string
  /** Days that message content is kept */
  readonly content_days: number
  readonly usage: {
    /** UTC month */
    readonly month: string
    /** Recipients accepted in this month; canceled ones are refunded */
    readonly emails: number
    /** Bytes of content of mail accepted in this month that is scheduled, or was canceled and is not removed yet */
    readonly scheduled_bytes: number
    readonly resets_at: Timestamp
  }
  readonly limits: {
    /** `null` is unlimited */
    readonly monthly_emails: number | null
    /** Per message, across to, cc and bcc */
    readonly max_recipients: number
    /** Bytes of content of scheduled mail of a month */
    readonly scheduled_bytes: number
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
  /** The beginning of the key: `wb_`, or `wb_test_` for a test key, and seven characters */
  readonly prefix: string
  readonly mode: ApiKeyMode
  /** The test clock that all mail of the key lives on; `null` on real time */
  readonly test_clock: TestClockId | null
  readonly scopes: ReadonlyArray<Scope>
  /** The domain that the key is bound to; `null` if none */
  readonly domain: string | null
  /** Empty allows every address */
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
  /** `live` by default */
  readonly mode?: ApiKeyMode | null
  /** Binds the key to this domain: it can use no other domain */
  readonly domain?: string | null
  /** Limits the key to these addresses and networks */
  readonly allowed_ips?: ReadonlyArray<string> | null
  /** When the key stops working */
  readonly expires_at?: string | null
  /** A test clock that all mail of the key lives on; for a test key only */
  readonly test_clock?: TestClockId | null
}

export type ApiKeyId = string

/** A `test` key sends and reads test mail only, which never leaves the service */
export type ApiKeyMode = "live" | "test"

export type ApiKeyRevoked = {
  readonly object: "api_key"
  readonly id: ApiKeyId
  readonly revoked: true
  readonly revoked_at: Timestamp
}

export type ApiKeyStatus = "active" | "expired" | "revoked"

export type Attachment = {
  readonly filename: string
  /** The bytes, in base64. Line breaks (LF or CRLF) are accepted */
  readonly content: string
  /** Derived from the file name if absent */
  readonly content_type?: string | null
  /** Embeds the file in the HTML, which refers to it as `cid:…` */
  readonly content_id?: string | null
  /** Another form of the text, such as a meeting invitation, and no file */
  readonly alternative?: boolean
}

export type AuditChange = {
  readonly field: string
  /** Value before as text; `null` if there was none */
  readonly from: string | null
  /** Value after as text; `null` if there is none. A text over 200 characters is told by its length */
  readonly to: string | null
}

export type AuditEntry = {
  readonly object: "audit_entry"
  readonly id: EventId
  readonly position: Position
  /** The action */
  readonly type: string
  readonly stream: string
  /** Id of the object that was changed */
  readonly stream_id: string
  readonly occurred_at: Timestamp
  readonly actor: Actor
  /** Name of the API key or the member; `null` for operators and the service */
  readonly actor_name: string | null
  /** Name of the object that was changed: of a key, a domain, a template or a member, the URL of a webhook, the recipients of an inbound route, an address */
  readonly target_name: string | null
  /** Fields that the action set; empty where its type says all */
  readonly changes: ReadonlyArray<AuditChange>
  /** IP address of the caller */
  readonly address: string | null
  readonly request_id: string | null
}

export type Batch = {
  readonly emails: ReadonlyArray<EmailMessage | TemplatedMessage>
  /** `all_or_nothing` by default; `permissive` accepts or refuses each message separately */
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
    /** One of seven codes; tells the client how to react */
    readonly code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error"
    /** For people; the wording may change */
    readonly message: string
    /** The specific cause; new values may appear */
    readonly reason: string
    /** Path of the page about this reason, at the address of the service */
    readonly docs?: string
    /** Also in `X-Request-Id`; include it in support requests */
    readonly request_id: string
    /** All violations, not only the first, up to 100; empty if no field is at fault */
    readonly details: ReadonlyArray<ErrorDetail>
  } | null
}

export type ChangedTemplateWords = {
  /** Liquid; becomes one line */
  readonly subject?: string | null
  /** Liquid in HTML: what variables hold is escaped for the place where they stand */
  readonly html?: string | null
  /** Liquid; derived from the HTML if absent */
  readonly text?: string | null
  /** Liquid; what mail programs show beside the subject */
  readonly preheader?: string | null
}

export type CreatedApiKey = ApiKey & {
  /** The key itself. It is shown only once. */
  readonly key: string
}

export type DmarcOverride = {
  readonly reason: "forwarded" | "local_policy" | "mailing_list" | "other" | "policy_test_mode" | "sampled_out" | "trusted_forwarder"
  readonly messages: number
  /** Words of a reporter about it */
  readonly comment: string | null
}

export type DmarcReports = {
  readonly object: "dmarc_reports"
  readonly domain: DomainName
  readonly days: number
  readonly verified: boolean
  /** Address at which this service receives the reports; `null` if it receives none */
  readonly report_address: string | null
  /** Reports of the period without a genuine signature, which the other numbers leave out */
  readonly unverified_reports: number
  /** Those with the newest reports first */
  readonly reporters: ReadonlyArray<Reporter>
  /** Record to publish so that reports come here; `null` if the last DNS check found it */
  readonly record: ReportRecord | null
  readonly totals: DmarcTotals
  /** Those with the most messages first */
  readonly sources: ReadonlyArray<DmarcSource>
}

export type DmarcSource = {
  /** Address of the server that sent the mail; `null` for the smallest sources of large reports, together */
  readonly source_ip: string | null
  readonly messages: number
  /** Messages that passed DMARC, by DKIM or by SPF */
  readonly aligned: number
  readonly dkim_aligned: number
  readonly spf_aligned: number
  /** Messages that receivers put into a spam folder because of your policy */
  readonly quarantined: number
  /** Messages that receivers refused because of your policy */
  readonly rejected: number
  /** Domain that signed mail of this source */
  readonly dkim_domain: string | null
  /** Domain of its return path */
  readonly spf_domain: string | null
  /** Reasons for which receivers did not apply your policy to mail that failed DMARC. Mail with several reasons counts for each */
  readonly overrides: ReadonlyArray<DmarcOverride>
  /** Up to 10 reporters that saw the source */
  readonly reporters: ReadonlyArray<string>
  readonly first_day: string
  readonly last_day: string
}

export type DmarcTotals = {
  readonly messages: number
  /** Messages that passed DMARC, by DKIM or by SPF */
  readonly aligned: number
  readonly dkim_aligned: number
  readonly spf_aligned: number
  /** Messages that receivers put into a spam folder because of your policy */
  readonly quarantined: number
  /** Messages that receivers refused because of your policy */
  readonly rejected: number
  readonly sources: number
  /** Reasons for which receivers did not apply your policy to mail that failed DMARC. Mail with several reasons counts for each */
  readonly overrides: ReadonlyArray<DmarcOverride>
}

export type DnsRecord = {
  readonly purpose: "dkim" | "return_path" | "spf" | "dmarc" | "tracking" | "receiving"
  readonly type: "TXT" | "CNAME" | "MX"
  /** Relative to the domain. To enter it at a DNS provider, use `zone_host` or `name` */
  readonly host: string
  /** Relative to the zone of the domain, as the forms of most DNS providers expect it; `null` while the zone is unknown */
  readonly zone_host: string | null
  /** The full name of the record */
  readonly name: string
  readonly value: string
  /** Preference of an MX record whose `value` is only the host; `null` for any other record */
  readonly priority: number | null
  readonly ttl: number
  /** Only the DKIM record of the RSA key is required to send; the others are recommended */
  readonly required: boolean
  readonly status: "not_checked" | "verified" | "missing" | "mismatch" | "unavailable" | "conflict"
  readonly found: ReadonlyArray<string>
  /** The likely mistake, or the DNS error */
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
  /** Name of the DNS zone that holds the domain, which a check finds; `null` while it is unknown */
  readonly zone: string | null
  /** Whether opens are tracked */
  readonly open_tracking: boolean
  /** Whether clicks are tracked */
  readonly click_tracking: boolean
  /** The name below the domain that tracked links use while its record is verified; `null` uses the service's own name */
  readonly tracking_domain: DomainName | null
  /** Whether mail to addresses of the domain is received */
  readonly receiving: boolean
  readonly records: ReadonlyArray<DnsRecord>
}

export type DomainAddition = {
  readonly name: DomainNameInput
  readonly domain?: DomainNameInput
} | {
  readonly name?: DomainNameInput
  readonly domain: DomainNameInput
}

/** Fields that are left out stay as they are */
export type DomainChange = {
  /** Track opens, unless the message sets this itself */
  readonly open_tracking?: boolean | null
  /** Track clicks, unless the message sets this itself */
  readonly click_tracking?: boolean | null
  /** A name below the domain that tracked links use, such as links.acme.com; `null` removes it */
  readonly tracking_domain?: DomainNameInput | null
  /** Receive mail to addresses of the domain; its MX record is among the `records` then */
  readonly receiving?: boolean | null
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

/** The `Message-ID` header of an email, with or without angle brackets; or its id */
export type EmailIdInput = string

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
  /** Pairs that the sender identifies the message by */
  readonly metadata: { readonly [name: string]: string }
  /** The version and language of the template that the message was made of */
  readonly template: UsedTemplate | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  readonly scheduled_at: Timestamp | null
  readonly delivered_at: Timestamp | null
  readonly next_attempt_at: Timestamp | null
  readonly attempts: number
  /** Whether opens and clicks are tracked, as decided at acceptance */
  readonly tracking: {
    readonly opens: boolean
    readonly clicks: boolean
  }
  readonly opens: number
  readonly clicks: number
  readonly api_key_id: ApiKeyId | null
  /** The test clock on whose time the message lives; `null` on real time */
  readonly test_clock: TestClockId | null
  readonly domain: string
  /** False for test mail, which is never sent */
  readonly livemode: boolean
  readonly size_bytes: number
  /** The error of the first recipient that has one */
  readonly error: EmailTrouble | null
  /** Number of events in its stream */
  readonly version: number
  /** Number of recipients per status; `status` is derived from them */
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

export type EmailLogWithContent = EmailLog & {
  /** The received mail that was sent on as it came; it has the content */
  readonly forward_of: InboundId | null
  /** How answers are found, as decided at acceptance; `null` if they go to `reply_to` */
  readonly reply_tracking: {
    readonly forward: boolean
  } | null
  /** The message that this one is a copy of */
  readonly resend_of: EmailId | null
  /** The first 100 copies that were sent to recipients whom this message did not reach */
  readonly copies: ReadonlyArray<EmailId>
  /** `null` once it is no longer kept */
  readonly content: EmailContent | null
}

export type EmailMessage = {
  /** `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted */
  readonly from: string
  /** 1 to 50 addresses, `a@b.c` or `Name <a@b.c>`; a single one needs no array */
  readonly to: string | ReadonlyArray<string>
  readonly subject: string
  /** HTML body. Without `text`, a text part is derived from it */
  readonly html?: string | null
  /** Plain text body; recommended */
  readonly text?: string | null
  /** Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business) */
  readonly cc?: string | ReadonlyArray<string> | null
  /** Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business) */
  readonly bcc?: string | ReadonlyArray<string> | null
  /** Addresses for replies */
  readonly reply_to?: string | ReadonlyArray<string> | null
  /** Custom headers, except those that the service writes */
  readonly headers?: { readonly [name: string]: string } | null
  /** Labels for filtering the logs; 1 to 64 characters each */
  readonly tags?: ReadonlyArray<string> | null
  /** When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z` */
  readonly scheduled_at?: string | null
  /** Files, at most 20 */
  readonly attachments?: ReadonlyArray<Attachment> | null
  /** Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by https */
  readonly list_unsubscribe?: boolean | null
  /** Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and values of at most 500. They are in the logs and the webhooks, and the logs find them with `metadata.<name>=<value>` */
  readonly metadata?: { readonly [name: string]: string } | null
  /** Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one recipient, instead of 422 `all_recipients_suppressed` */
  readonly accept_suppressed?: boolean | null
  /** Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`. `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it */
  readonly reply_tracking?: boolean | ReplyTracking | null
  /** Whether opens and clicks are tracked; the domain's setting applies to what is left out */
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

export type EmailTotal = {
  readonly count: number
  /** If false, more than `count` emails match */
  readonly is_exact: boolean
}

export type EmailTracking = {
  /** Adds a 1×1 pixel at the end of the HTML */
  readonly opens?: boolean | null
  /** Replaces links in the HTML by redirects through this service */
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
    /** One of seven codes; tells the client how to react */
    readonly code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error"
    /** For people; the wording may change */
    readonly message: string
    /** The specific cause; new values may appear */
    readonly reason: string
    /** Path of the page about this reason, at the address of the service */
    readonly docs?: string
    /** Also in `X-Request-Id`; include it in support requests */
    readonly request_id: string
    /** All violations, not only the first, up to 100; empty if no field is at fault */
    readonly details: ReadonlyArray<ErrorDetail>
  }
}

export type ErrorDetail = {
  /** The field, such as `to[3]` or `headers.X-Id`; empty for the body as a whole */
  readonly path: string
  /** The error, worded to continue after the field's name */
  readonly message: string
}

export type Event = {
  readonly object: "event"
  readonly id: EventId
  /** New types may appear; ignore those that you do not know */
  readonly type: string
  /** Kind of the object */
  readonly stream: string
  /** Id of the object, or the address of a suppression */
  readonly stream_id: string
  /** Number of the event in the object's history, from 1 */
  readonly version: number
  readonly position: Position
  /** False for an event of test mail */
  readonly livemode: boolean
  readonly occurred_at: Timestamp
  readonly actor: Actor
  readonly request_id: string | null
  readonly data: { readonly [name: string]: unknown }
  /** Only with `include=webhook_payload`: the body of a webhook call for this event, in Waybill's own format; `null` for a type that is not sent to webhooks */
  readonly webhook_payload?: { readonly [name: string]: unknown } | null
}

export type EventFeed = {
  readonly object: "list"
  readonly has_more: boolean
  /** The `after_position` of the next request; store it together with your results */
  readonly next_position: Position
  readonly data: ReadonlyArray<Event>
}

export type EventId = string

export type EventStreamPing = {
  readonly position: Position
}

export type InboundAttachment = {
  readonly id: string
  readonly filename: string
  readonly content_type: string
  readonly size_bytes: number
  readonly content_id: string | null
  readonly disposition: "attachment" | "inline"
  /** Downloads the file without a key, until `expires_at` */
  readonly url: string
  readonly expires_at: Timestamp
}

export type InboundAuthentication = {
  readonly spf: "pass" | "fail" | "softfail" | "neutral" | "none" | "policy" | "temperror" | "permerror"
  readonly dkim: ReadonlyArray<{
    readonly domain: string
    readonly result: "pass" | "fail" | "softfail" | "neutral" | "none" | "policy" | "temperror" | "permerror"
  }>
  readonly dmarc: "pass" | "fail" | "softfail" | "neutral" | "none" | "policy" | "temperror" | "permerror"
  readonly arc: "pass" | "fail" | "softfail" | "neutral" | "none" | "policy" | "temperror" | "permerror"
}

export type InboundEmail = {
  readonly object: "inbound_email"
  readonly id: InboundId
  /** `rejected`: a route refused it while its server waited; `dropped`: a route accepted it in silence */
  readonly status: "received" | "dropped" | "rejected"
  /** False for a mail that was only made up for a test */
  readonly livemode: boolean
  readonly created_at: Timestamp
  /** The sent email that this one answers */
  readonly email_id: EmailId | null
  readonly thread_id: ThreadId
  readonly envelope: InboundEnvelope
  readonly from: InboundPerson | null
  readonly to: ReadonlyArray<InboundPerson>
  readonly cc: ReadonlyArray<InboundPerson>
  readonly reply_to: ReadonlyArray<InboundPerson>
  readonly subject: string | null
  readonly date: Timestamp | null
  readonly message_id: string | null
  readonly in_reply_to: string | null
  readonly references: ReadonlyArray<string>
  /** The kind of program that wrote the mail; `null` for a person */
  readonly automatic: "auto_reply" | "bounce" | "list" | null
  readonly domain: DomainName
  /** The text after the plus sign in the first recipient, as `42` in support+42@acme.test */
  readonly mailbox_hash: string | null
  readonly auth: InboundAuthentication
  /** The finding of DMARC: it passed, it failed, or there was none */
  readonly verdict: "pass" | "fail" | "none"
  /** The routes that applied, in order; empty if none did */
  readonly routes: ReadonlyArray<InboundRouteApplied>
  /** Emails that answer it, oldest first */
  readonly replies: ReadonlyArray<EmailId>
  /** Forwards that no route asked for, by a request or by `reply_tracking`, oldest first */
  readonly forwards: ReadonlyArray<InboundForwarded>
  readonly size_bytes: number
  /** False if the mail has more parts or headers than are read; `raw` has all of it */
  readonly complete: boolean
  readonly attachments: ReadonlyArray<InboundAttachment>
}

export type InboundEmailDeleted = {
  readonly object: "inbound_email"
  readonly id: InboundId
  readonly deleted: true
}

export type InboundEmailWhole = InboundEmail & {
  readonly headers: ReadonlyArray<{
    readonly name: string
    readonly value: string
  }>
  /** The text as it was written; `null` if there is none, or the content is no longer kept */
  readonly text: string | null
  /** The HTML as it was written. Strangers write it: show it only in a frame without scripts */
  readonly html: string | null
  /** The text without what it quotes and without the signature */
  readonly stripped_text: string | null
}

export type InboundEnvelope = {
  /** The return path; empty for a bounce */
  readonly from: string
  readonly to: ReadonlyArray<Address>
  readonly remote_ip: string | null
  readonly helo: string | null
  readonly tls: string | null
}

export type InboundForwarded = {
  /** `pending`, the worst status of its recipients, or `removed` once its email is no longer in the log */
  readonly result: string
  /** The email that a forward is */
  readonly email_id: EmailId | null
  /** Why a forward did not go to all of its addresses: `loop`, `automatic`, or the reason for which the email was refused */
  readonly reason: string | null
}

export type InboundForwarding = {
  /** 1 to 10 addresses */
  readonly to: AddressInput | ReadonlyArray<AddressInput>
}

export type InboundId = string

export type InboundPerson = {
  readonly address: string
  readonly name: string | null
}

export type InboundReply = {
  /** `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted */
  readonly from: string
  /** HTML body. Without `text`, a text part is derived from it */
  readonly html?: string | null
  /** Plain text body; recommended */
  readonly text?: string | null
  /** Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business) */
  readonly cc?: string | ReadonlyArray<string> | null
  /** Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business) */
  readonly bcc?: string | ReadonlyArray<string> | null
  /** Addresses for replies */
  readonly reply_to?: string | ReadonlyArray<string> | null
  /** Custom headers, except those that the service writes */
  readonly headers?: { readonly [name: string]: string } | null
  /** Labels for filtering the logs; 1 to 64 characters each */
  readonly tags?: ReadonlyArray<string> | null
  /** When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z` */
  readonly scheduled_at?: string | null
  /** Files, at most 20 */
  readonly attachments?: ReadonlyArray<Attachment> | null
  /** Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by https */
  readonly list_unsubscribe?: boolean | null
  /** Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and values of at most 500. They are in the logs and the webhooks, and the logs find them with `metadata.<name>=<value>` */
  readonly metadata?: { readonly [name: string]: string } | null
  /** Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one recipient, instead of 422 `all_recipients_suppressed` */
  readonly accept_suppressed?: boolean | null
  /** Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`. `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it */
  readonly reply_tracking?: boolean | ReplyTracking | null
  /** Whether opens and clicks are tracked; the domain's setting applies to what is left out */
  readonly tracking?: EmailTracking | null
}

export type InboundRoute = {
  readonly object: "inbound_route"
  readonly id: InboundRouteId
  readonly match: {
    readonly to: string | null
    readonly from: string | null
    readonly subject: string | null
    readonly verdict: "pass" | "fail" | "none" | null
  }
  readonly action: {
    readonly type: "webhook" | "forward" | "reject" | "drop" | "store"
    readonly webhook_id: WebhookId | null
    readonly to: ReadonlyArray<Address> | null
    readonly message: string | null
  }
  readonly position: number
  readonly enabled: boolean
  readonly stop: boolean
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

/** `webhook` calls webhooks; `forward` sends the mail on as it came; `reject` refuses the mail in the session; `drop` accepts and records it, and nothing else; `store` records it without a call */
export type InboundRouteAction = {
  readonly type: "webhook"
  /** The only webhook that is called; all that subscribe to `email.received` if absent */
  readonly webhook_id?: WebhookId | null
} | {
  readonly type: "forward"
  /** 1 to 10 addresses that the mail is sent on to */
  readonly to: ReadonlyArray<AddressInput>
} | {
  readonly type: "reject"
  /** Text of the reply 550 to its server */
  readonly message?: string | null
} | {
  readonly type: "drop"
} | {
  readonly type: "store"
}

export type InboundRouteApplied = {
  readonly id: InboundRouteId
  readonly action: "webhook" | "forward" | "reject" | "drop" | "store"
  /** For a webhook `pending`, `delivered`, `failed`, or `none` if there is no webhook to call; for a forward `pending`, or the worst status of its recipients, such as `delivered` or `bounced`, `removed` once its email is no longer in the log, and `failed` if nothing was sent; otherwise `rejected`, `dropped` or `stored`. New values may appear */
  readonly result: string
  /** The email that a forward is */
  readonly email_id: EmailId | null
  /** Why a forward did not go to all of its addresses: `loop`, `automatic`, or the reason for which the email was refused */
  readonly reason: string | null
}

/** Fields that are left out stay as they are; `match` and `action` are replaced as a whole */
export type InboundRouteChange = {
  /** Replaces all conditions; `{}` is for every mail */
  readonly match?: InboundRouteMatch | null
  readonly action?: InboundRouteAction
  readonly position?: number
  readonly enabled?: boolean
  readonly stop?: boolean
}

export type InboundRouteCreation = {
  /** For every mail if absent */
  readonly match?: InboundRouteMatch | null
  readonly action: InboundRouteAction
  /** Routes are tried in the order of their positions; after all others if absent */
  readonly position?: number | null
  /** `true` by default */
  readonly enabled?: boolean | null
  /** Whether no later route is tried once this one applied; `false` by default */
  readonly stop?: boolean | null
}

export type InboundRouteDeleted = {
  readonly object: "inbound_route"
  readonly id: InboundRouteId
  readonly deleted: true
}

export type InboundRouteId = string

/** Conditions that must all hold; a route without any is for every mail */
export type InboundRouteMatch = {
  /** A recipient of the mail: an address, `*@domain` or `name+*@domain` */
  readonly to?: string | null
  /** The sender in its header: an address, `*@domain` or `name+*@domain` */
  readonly from?: string | null
  /** Part of the subject, in any case */
  readonly subject?: string | null
  /** The finding of DMARC about the sender */
  readonly verdict?: "pass" | "fail" | "none" | null
}

export type InboundRouteTest = {
  readonly object: "inbound_route_test"
  /** The end that the mail would have */
  readonly status: "received" | "dropped" | "rejected"
  /** All routes, in the order in which they are tried */
  readonly routes: ReadonlyArray<{
    readonly id: InboundRouteId
    readonly action: "webhook" | "forward" | "reject" | "drop" | "store"
    readonly applies: boolean
    /** Why the route applies, or why it does not */
    readonly reason: string
  }>
}

export type InboundRouteTrial = {
  readonly to: AddressInput | ReadonlyArray<AddressInput>
  readonly from: AddressInput
  /** Empty if absent */
  readonly subject?: string | null
  /** The finding of DMARC about the sender; `none` if absent */
  readonly verdict?: "pass" | "fail" | "none" | null
}

export type InboundTest = {
  /** `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted */
  readonly from: string
  /** Recipients; those of the header if only `raw` is given */
  readonly to: AddressInput | ReadonlyArray<AddressInput>
  /** Empty if absent */
  readonly subject?: string | null
  /** The text */
  readonly text?: string | null
  /** The HTML */
  readonly html?: string | null
  /** Message-ID of the mail that this one answers, such as the `message_id` of an email */
  readonly in_reply_to?: string | null
  /** Files */
  readonly attachments?: ReadonlyArray<Attachment> | null
  /** The whole mail in base64, instead of its fields */
  readonly raw?: string | null
} | {
  /** `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted */
  readonly from?: string
  /** Recipients; those of the header if only `raw` is given */
  readonly to?: AddressInput | ReadonlyArray<AddressInput>
  /** Empty if absent */
  readonly subject?: string | null
  /** The text */
  readonly text?: string | null
  /** The HTML */
  readonly html?: string | null
  /** Message-ID of the mail that this one answers, such as the `message_id` of an email */
  readonly in_reply_to?: string | null
  /** Files */
  readonly attachments?: ReadonlyArray<Attachment> | null
  /** The whole mail in base64, instead of its fields */
  readonly raw: string | null
}

export type ListedMember = Member & {
  /** Whether a second factor or a passkey is set up */
  readonly two_factor: boolean
  readonly last_seen_at: Timestamp | null
}

export type ListedTemplate = {
  readonly object: "template"
  readonly id: TemplateId
  readonly kind: TemplateKind
  readonly alias: string | null
  readonly name: string
  readonly description: string | null
  readonly status: "draft" | "published" | "archived"
  /** The version that is sent */
  readonly current_version: number | null
  /** Number of versions */
  readonly versions: number
  /** Whether the draft differs from the version that is sent; always before the first */
  readonly draft_differs: boolean
  /** Layouts and partials that the version that is sent uses, and that are not there: it cannot be sent */
  readonly missing_parts: ReadonlyArray<string>
  /** Languages of the draft besides its own */
  readonly languages: ReadonlyArray<string>
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  /** Start of the hour in which mail was last accepted by it, as far as it is counted */
  readonly used_at: Timestamp | null
}

export type ListedTemplateVersion = {
  readonly object: "template_version"
  readonly template_id: TemplateId
  readonly number: number
  readonly notes: string | null
  /** The key or user that published it */
  readonly created_by: string | null
  readonly published_at: Timestamp
}

export type ListedWebhook = Webhook & {
  /** Time of the first failed call after the last successful one, once it is five minutes ago; `null` while the endpoint accepts calls */
  readonly failing_since: Timestamp | null
  /** The last call; `null` if there was none. Calls that failed are found among the newest 200 deliveries that were called, accepted ones among the newest 10,000, in a list 1,000 */
  readonly last_call: {
    readonly delivery_id: WebhookDeliveryId
    readonly at: Timestamp
    /** HTTP status of the response; `null` if there was none */
    readonly status: number | null
    readonly duration_ms: number
    /** Why there was no complete response */
    readonly error: string | null
    /** The first 200 characters of the response; `null` if it was empty */
    readonly answer: string | null
  } | null
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
  /** Display name */
  readonly name?: string | null
  readonly role: MemberRole
}

export type MemberLink = {
  readonly object: "member_link"
  readonly member: Member
  /** Opens a page that sets the member's password. Shown only once; share it over a secure channel. */
  readonly url: string | null
  readonly expires_at: Timestamp
}

export type MemberRemoved = {
  readonly object: "member"
  readonly id: UserId
  readonly deleted: true
}

export type MemberRole = "owner" | "member" | "viewer"

export type NewTemplateSource = {
  /** Liquid; becomes one line */
  readonly subject?: string | null
  /** Liquid in HTML: what variables hold is escaped for the place where they stand */
  readonly html?: string | null
  /** Liquid; derived from the HTML if absent */
  readonly text?: string | null
  /** Liquid; what mail programs show beside the subject */
  readonly preheader?: string | null
  /** Liquid by default. Words in the languages of other services are kept as they are, and translated to be rendered */
  readonly language?: TemplateLanguage | null
  /** Sender of messages that name none */
  readonly from?: string | null
  /** Reply addresses of messages that name none */
  readonly reply_to?: ReadonlyArray<string> | null
  /** Alias of the layout around the HTML and the text */
  readonly layout?: string | null
  /** Words in other languages, by BCP 47 tag */
  readonly locales?: { readonly [name: string]: NewTemplateWords } | null
  /** JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without it, none is checked */
  readonly variables?: { readonly [name: string]: unknown } | null
}

export type NewTemplateWords = {
  /** Liquid; becomes one line */
  readonly subject?: string | null
  /** Liquid in HTML: what variables hold is escaped for the place where they stand */
  readonly html?: string | null
  /** Liquid; derived from the HTML if absent */
  readonly text?: string | null
  /** Liquid; what mail programs show beside the subject */
  readonly preheader?: string | null
}

/** Why the service is not ready */
export type NotReady = {
  readonly status: "unavailable"
  readonly problems: ReadonlyArray<string>
}

export type Ok = {
  readonly status: "ok"
}

export type Plan = "free" | "starter" | "growth" | "business"

/** A position in the account's history. Opaque: send it back unchanged; do not compare or compute with it */
export type Position = string

/** Where to continue from: a position from a response, or `0` for the beginning */
export type PositionFrom = string

export type PushedTemplate = NewTemplateSource & {
  readonly alias: string
  readonly name: string
  /** `template` by default; that of an existing template never changes */
  readonly kind?: TemplateKind | null
  /** Purpose of the template */
  readonly description?: string | null
  /** `false` leaves this one a draft when the others are published */
  readonly publish?: boolean | null
  /** `etag` of the template that the caller has read, or `none`; refused if the template is another by now */
  readonly base?: string | null
}

export type PushedTemplateResult = {
  readonly alias: string
  /** `null` if a dry run would create it */
  readonly id: TemplateId | null
  /** `published` if the draft was there before, and only its publication is new */
  readonly action: "created" | "changed" | "published" | "unchanged"
  /** Fields that differ from the former draft */
  readonly changed_fields: ReadonlyArray<string>
  /** The version that the push publishes */
  readonly version: number | null
  /** `etag` before the push */
  readonly base: string | null
  /** Changes with the names and the draft; the `base` of a push */
  readonly etag: string
  /** Reasons why it cannot be pushed; in a dry run only */
  readonly problems: ReadonlyArray<TemplateWarning>
  /** Faults that its author may have overlooked */
  readonly warnings: ReadonlyArray<TemplateWarning>
}

export type Ready = {
  readonly status: "ok"
  /** Cells that do not answer, whose accounts get 503; left out if there are none */
  readonly cells_down?: ReadonlyArray<string>
}

export type Receipt = {
  readonly object: "receipt"
  /** Name of the log */
  readonly origin: string
  /** The record of the mail. It follows from the events, and is not signed itself */
  readonly email: { readonly [name: string]: unknown }
  readonly events: ReadonlyArray<ReceiptEvent>
  /** The signed head of the log: a note of c2sp.org/tlog-checkpoint */
  readonly checkpoint: string
  /** Signatures of witnesses, each a line of the note */
  readonly cosignatures: ReadonlyArray<string>
  /** Keys that have signed the checkpoint: name+hash+base64 */
  readonly keys: ReadonlyArray<string>
}

export type ReceiptEntry = {
  readonly v: 1
  readonly event: string
  /** Hash of the id of the mail, with a salt */
  readonly stream: string
  readonly version: number
  readonly type: string
  readonly at: string
  /** Hash of the commitments of all fields */
  readonly data: string
}

export type ReceiptEvent = {
  readonly entry: ReceiptEntry
  readonly fields: { readonly [name: string]: {
      readonly salt: string
      readonly value: unknown
    } }
  /** Commitments of the fields that are hidden */
  readonly hidden: { readonly [name: string]: string }
  /** Number of the leaf in the log, from 0 */
  readonly index: number
  /** Hashes from the leaf's sibling to the root (RFC 9162) */
  readonly proof: ReadonlyArray<string>
}

export type RenderedTemplate = {
  readonly object: "rendered_template"
  readonly subject: string | null
  readonly html: string | null
  /** Derived from the HTML if the template has none */
  readonly text: string | null
  /** Line that mail programs show beside the subject */
  readonly preheader: string | null
  /** Sender of messages that name none */
  readonly from: string | null
  /** The language that was found */
  readonly locale: string | null
  readonly warnings: ReadonlyArray<TemplateWarning>
}

export type ReplyTracking = {
  /** Whether answers are sent on to `reply_to`, or else to `from` */
  readonly forward?: boolean | null
}

export type ReportRecord = {
  readonly type: "TXT"
  readonly name: string
  readonly value: string
}

export type Reporter = {
  /** Domain that signed the reports; of unverified ones, the domain that they claim to come from */
  readonly domain: string
  /** Name that the reporter gives itself */
  readonly org_name: string
  readonly reports: number
  readonly last_report_at: Timestamp
}

export type Request = {
  readonly object: "request"
  /** Also in `X-Request-Id` of the response */
  readonly id: RequestId
  readonly method: string
  readonly path: string
  /** Query without its `?`, with secrets masked */
  readonly query: string | null
  /** `null` if the client left before the response */
  readonly status: number | null
  /** The `reason` of a refusal */
  readonly reason: string | null
  readonly api_key_id: ApiKeyId | null
  /** User whose dashboard sent the request */
  readonly user_id: UserId | null
  /** IP address of the caller */
  readonly address: string
  /** Time from the request to the end of the response */
  readonly duration_ms: number
  /** Size of the body as it was sent */
  readonly body_bytes: number
  /** False for a request with a test key, or about test mail in the dashboard */
  readonly livemode: boolean
  readonly created_at: Timestamp
}

export type RequestDetail = Request & {
  /** The first 16 KB of a JSON body, with secrets and the content of messages masked */
  readonly body: string | null
  /** The first 4 KB of the answer to a request that changed something or was refused, with secrets masked; `null` for others */
  readonly answer: string | null
  /** Messages that the request made */
  readonly email_ids: ReadonlyArray<EmailId>
}

export type RequestId = string

export type RequestsNotKept = {
  /** Day in UTC */
  readonly date: string
  readonly count: number
}

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
  /** Number of deleted messages */
  readonly deleted: number
}

export type SandboxMessage = {
  readonly object: "sandbox_message"
  /** Id of the email */
  readonly id: EmailId
  /** The envelope recipients */
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  /** The return path */
  readonly mail_from: string
  readonly size_bytes: number
  /** False for test mail, true for mail of an instance without a transport */
  readonly livemode: boolean
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
}

export type SandboxMessageWhole = SandboxMessage & {
  readonly headers: ReadonlyArray<{
    readonly name: string
    readonly value: string
  }>
  readonly html: string | null
  readonly text: string | null
  readonly attachments: ReadonlyArray<SandboxAttachment>
  /** The complete message as it would have been sent, including signatures, in base64 */
  readonly raw: string
}

export type Scope = "email:send" | "email:logs:read" | "domains:read" | "domains:write" | "webhooks:manage" | "events:read" | "stats:read" | "suppressions:read" | "suppressions:write" | "inbound:read" | "inbound:write" | "templates:read" | "templates:write" | "admin"

export type Session = {
  readonly object: "session"
  readonly actor: Actor
  readonly account_id: AccountId
  /** `null` for a key */
  readonly role: MemberRole | null
  readonly scopes: ReadonlyArray<Scope>
  /** The domain that the key is bound to; `null` if none */
  readonly domain: string | null
  /** Whether the user operates this instance and can see every account */
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
  /** False for the statistics of test mail */
  readonly livemode: boolean
  /** Start of the range, rounded down to the hour */
  readonly from: Timestamp
  /** End of the range, rounded up to the hour; exclusive */
  readonly to: Timestamp
  readonly group_by: ReadonlyArray<"hour" | "day" | "domain" | "tag" | "template" | "api_key" | "provider">
  /** Every event of the account up to this position is counted exactly once; later events are not counted yet */
  readonly up_to_position: Position
  /** Whether the account has more tags, or versions of templates if it is grouped by template. A response has the first 1000 by name; query others with `tag` */
  readonly more_tags: boolean
  /** Oldest first; groups without events have no row */
  readonly data: ReadonlyArray<StatsRow>
}

export type StatsLatency = {
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
}

export type StatsRecipientCounts = {
  readonly queued: number
  readonly deferred: number
  readonly sent: number
  readonly delivered: number
  readonly bounced: number
  readonly failed: number
  readonly suppressed: number
  readonly canceled: number
  readonly complained: number
}

export type StatsRow = {
  /** Start of the hour or day; `null` unless grouped by one */
  readonly at: Timestamp | null
  /** `null` unless grouped by it */
  readonly domain: string | null
  /** `null` unless grouped by it */
  readonly tag: string | null
  /** Id; `null` unless grouped by it */
  readonly template: string | null
  /** `null` unless grouped by template: each version has a row */
  readonly template_version: number | null
  /** `null` unless grouped by `api_key`. Mail that was sent in the dashboard has no key */
  readonly api_key_id: string | null
  /** `null` unless grouped by it: gmail, outlook, yahoo, icloud and others by the domains of their mailboxes; `other` for all other domains, such as those of companies */
  readonly provider: string | null
  /** Recipients of accepted messages */
  readonly accepted: number
  /** Recipients delivered in this period; some may bounce or complain later */
  readonly delivered: number
  /** Deferred attempts; a recipient may have several */
  readonly deferred: number
  /** Bounces, also of recipients that were delivered before */
  readonly bounced: number
  readonly failed: number
  readonly suppressed: number
  /** Complaints of recipients that were delivered before */
  readonly complained: number
  /** Opens of tracked mail; a message may have several */
  readonly opened: number
  /** Clicks in tracked mail; a message may have several */
  readonly clicked: number
  /** Current status of the recipients accepted in this period. Each counts once, so the sum is `accepted`; the other fields count events by the time at which they happened */
  readonly recipient_counts: StatsRecipientCounts
  /** From acceptance, or the scheduled time, to delivery; accurate to 5 %. `null` if nothing was delivered */
  readonly latency_ms: StatsLatency | null
}

export type Suppression = {
  readonly object: "suppression"
  readonly id: SuppressionId
  readonly email: string
  readonly reason: SuppressionReason
  /** The message that caused it */
  readonly email_id: EmailId | null
  readonly source: SuppressionSource
  /** False for an address that test mail suppressed; live mail to it is sent */
  readonly livemode: boolean
  readonly created_at: Timestamp
}

export type SuppressionAddition = {
  readonly email: AddressInput
  /** `manual` by default */
  readonly reason?: SuppressionReason | null
}

export type SuppressionBatch = {
  /** Addresses to suppress */
  readonly add?: ReadonlyArray<{
    readonly email: string
    /** `manual` by default */
    readonly reason?: SuppressionReason | null
  }>
  /** Addresses that can receive mail again */
  readonly remove?: ReadonlyArray<string>
}

export type SuppressionBatchAnswer = {
  readonly object: "suppression_batch"
  readonly added: number
  readonly removed: number
  readonly unchanged: number
  readonly rejected: number
  /** One entry for each address, in the order of the request */
  readonly data: ReadonlyArray<SuppressionBatchEntry>
}

export type SuppressionBatchEntry = {
  /** Position in the request, from 0 */
  readonly index: number
  readonly email: string
  /** `unchanged`: it was suppressed already, or was not; `rejected`: it is not an address */
  readonly status: "added" | "removed" | "unchanged" | "rejected"
  /** Why it was rejected or left unchanged */
  readonly message: string | null
}

export type SuppressionId = string

export type SuppressionReason = "hard_bounce" | "complaint" | "manual" | "unsubscribe"

export type SuppressionRemoved = {
  readonly object: "suppression"
  readonly id: SuppressionId
  readonly email: string
  readonly deleted: true
}

/** `email`: a bounce, a complaint or an unsubscribe of a message; `request`: added over the API or by hand */
export type SuppressionSource = "email" | "request"

export type Template = ListedTemplate & {
  readonly draft: TemplateSource
  /** Changes with the names and the draft; the `base` of a push */
  readonly etag: string
}

export type TemplateArchived = {
  readonly object: "template"
  readonly id: TemplateId
  readonly archived: true
}

/** Changes the draft. Fields that are left out stay as they are; `null` empties a field */
export type TemplateChange = {
  readonly name?: string
  readonly alias?: string | null
  readonly description?: string | null
  readonly subject?: string | null
  readonly html?: string | null
  readonly text?: string | null
  readonly preheader?: string | null
  readonly language?: TemplateLanguage | null
  readonly from?: string | null
  readonly reply_to?: ReadonlyArray<string> | null
  readonly layout?: string | null
  readonly locales?: { readonly [name: string]: ChangedTemplateWords } | null
  readonly variables?: { readonly [name: string]: unknown } | null
  /** `updated_at` of the template as it was read; refused with `template_draft_changed` if it has changed since */
  readonly unchanged_since?: Timestamp | null
}

export type TemplateChoice = {
  /** Id of the template */
  readonly id?: string | null
  /** Alias of the template */
  readonly alias?: string | null
  /** A published version; the current one by default */
  readonly version?: number | null
  /** Language of the message: `pt-BR` falls back to `pt`, then to the template's own */
  readonly locale?: string | null
  /** Time zone of dates and times; UTC by default */
  readonly time_zone?: string | null
  /** Checked by the template's schema */
  readonly variables?: TemplateVariables | null
}

export type TemplateCreation = NewTemplateSource & {
  readonly name: string
  /** `template` by default */
  readonly kind?: TemplateKind | null
  /** Name of the template in requests; unique in the account */
  readonly alias?: string | null
  /** Purpose of the template */
  readonly description?: string | null
}

export type TemplateDuplication = {
  /** `Copy of …` by default */
  readonly name?: string | null
  /** None by default */
  readonly alias?: string | null
}

export type TemplateId = string

export type TemplateKind = "template" | "layout" | "partial"

export type TemplateLanguage = "liquid" | "handlebars" | "mustachio" | "resend"

export type TemplatePublication = {
  /** Reason of the change */
  readonly notes?: string | null
  /** Whether it is sent from now on; `true` by default */
  readonly activate?: boolean | null
  /** `updated_at` of the template as it was read; refused with `template_draft_changed` if it has changed since */
  readonly unchanged_since?: Timestamp | null
}

export type TemplatePush = {
  readonly templates: ReadonlyArray<PushedTemplate>
  /** Whether what is sent changes too; drafts only by default */
  readonly publish?: boolean | null
  /** Whether only the answer is wanted, and nothing is to change */
  readonly dry_run?: boolean | null
  /** Reason of the change */
  readonly notes?: string | null
}

export type TemplatePushAnswer = {
  readonly object: "template_push"
  readonly dry_run: boolean
  /** In the order of the request */
  readonly templates: ReadonlyArray<PushedTemplateResult>
}

export type TemplateRendering = {
  /** A published version; the draft by default */
  readonly version?: number | null
  /** A source instead of the draft, which is not stored */
  readonly draft?: TriedTemplateSource | null
  /** Values made of the schema by default */
  readonly variables?: TemplateVariables | null
  /** The template's own language by default */
  readonly locale?: string | null
  /** UTC by default */
  readonly time_zone?: string | null
}

export type TemplateRollback = {
  readonly version: number
}

/** In the form of a version. What only a published one has (`number`, `published_at` and who) is `null` */
export type TemplateSource = {
  readonly subject: string | null
  readonly html: string | null
  readonly text: string | null
  readonly preheader: string | null
  readonly language?: TemplateLanguage
  readonly from: string | null
  readonly reply_to: ReadonlyArray<string>
  /** Alias of the layout around the HTML and the text */
  readonly layout: string | null
  /** Words in other languages; what one leaves out is `null`, and taken from the wider language */
  readonly locales: { readonly [name: string]: TemplateWords }
  /** JSON Schema of the variables */
  readonly variables: { readonly [name: string]: unknown } | null
  readonly number: number | null
  readonly notes: string | null
  readonly created_by: string | null
  readonly published_at: Timestamp | null
}

export type TemplateValidation = {
  readonly object: "template_validation"
  readonly valid: boolean
  readonly problems: ReadonlyArray<TemplateWarning>
  /** Faults that an author may have overlooked, such as a variable that is not in the schema */
  readonly warnings: ReadonlyArray<TemplateWarning>
  /** JSON Schema of the variables that it uses */
  readonly suggested_variables: { readonly [name: string]: unknown }
  /** Variables that fit the schema */
  readonly sample: { readonly [name: string]: unknown }
}

export type TemplateVariables = { readonly [name: string]: unknown }

export type TemplateVersion = ListedTemplateVersion & {
  readonly subject: string | null
  readonly html: string | null
  readonly text: string | null
  readonly preheader: string | null
  readonly language?: TemplateLanguage
  readonly from: string | null
  readonly reply_to: ReadonlyArray<string>
  /** Alias of the layout around the HTML and the text */
  readonly layout: string | null
  /** Words in other languages; what one leaves out is `null`, and taken from the wider language */
  readonly locales: { readonly [name: string]: TemplateWords }
  /** JSON Schema of the variables */
  readonly variables: { readonly [name: string]: unknown } | null
}

export type TemplateWarning = {
  readonly path: string
  readonly message: string
}

export type TemplateWords = {
  readonly subject: string | null
  readonly html: string | null
  readonly text: string | null
  readonly preheader: string | null
}

export type TemplatedMessage = {
  /** That of the template by default */
  readonly from?: string | null
  /** 1 to 50 addresses, `a@b.c` or `Name <a@b.c>`; a single one needs no array */
  readonly to: string | ReadonlyArray<string>
  /** That of the template by default */
  readonly subject?: string | null
  readonly html?: null
  readonly text?: null
  /** Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business) */
  readonly cc?: string | ReadonlyArray<string> | null
  /** Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business) */
  readonly bcc?: string | ReadonlyArray<string> | null
  /** Addresses for replies */
  readonly reply_to?: string | ReadonlyArray<string> | null
  /** Custom headers, except those that the service writes */
  readonly headers?: { readonly [name: string]: string } | null
  /** Labels for filtering the logs; 1 to 64 characters each */
  readonly tags?: ReadonlyArray<string> | null
  /** When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z` */
  readonly scheduled_at?: string | null
  /** Files, at most 20 */
  readonly attachments?: ReadonlyArray<Attachment> | null
  /** Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by https */
  readonly list_unsubscribe?: boolean | null
  /** Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and values of at most 500. They are in the logs and the webhooks, and the logs find them with `metadata.<name>=<value>` */
  readonly metadata?: { readonly [name: string]: string } | null
  /** Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one recipient, instead of 422 `all_recipients_suppressed` */
  readonly accept_suppressed?: boolean | null
  /** Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`. `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it */
  readonly reply_tracking?: boolean | ReplyTracking | null
  /** Whether opens and clicks are tracked; the domain's setting applies to what is left out */
  readonly tracking?: EmailTracking | null
  readonly template: TemplateChoice
}

/** A clock for test mail. `now` is the time that it shows, which moves while the clock advances */
export type TestClock = {
  readonly object: "test_clock"
  readonly id: TestClockId
  readonly name: string | null
  readonly now: Timestamp
  /** `advancing` while an advance does what is due; `ready` once all of it is done */
  readonly status: "ready" | "advancing"
  /** Target of the advance in progress */
  readonly advancing_to: Timestamp | null
  /** Limit that ended the last advance before its target; `null` if it reached the target */
  readonly stopped: TestClockStopped | null
  readonly created_at: Timestamp
  readonly created_by: string | null
}

export type TestClockAdvance = {
  /** How far to advance, as an ISO 8601 duration */
  readonly by?: string | null
  /** The time to advance to; not earlier than `now` of the clock */
  readonly to?: string | null
}

export type TestClockCreation = {
  /** For people */
  readonly name?: string | null
  /** The time that the clock shows first; real time by default */
  readonly now?: string | null
}

export type TestClockDeleted = {
  readonly object: "test_clock"
  readonly id: TestClockId
  readonly deleted: true
}

export type TestClockId = string

export type TestClockStopped = "too_many_steps" | "took_too_long"

export type Thread = {
  readonly object: "thread"
  readonly id: ThreadId
  /** Oldest first; the newest 200 of a longer thread */
  readonly data: ReadonlyArray<ThreadEntry>
}

export type ThreadEntry = {
  readonly direction: "sent" | "received"
  readonly id: EmailId | InboundId
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly subject: string | null
  readonly status: string
  readonly created_at: Timestamp
}

export type ThreadId = string

export type Timestamp = string

/** ISO 8601 with an offset or Z; UTC with milliseconds in responses */
export type TimestampInput = string

export type TlsFailure = {
  /** Policy that the sender found: MTA-STS, DANE, or none */
  readonly policy: "sts" | "tlsa" | "no-policy-found"
  readonly failure: string
  /** Your mail server, where reports name it */
  readonly server: string | null
  readonly sessions: number
  readonly reporters: ReadonlyArray<string>
  readonly last_day: string
}

export type TlsPolicy = {
  /** Policy that the sender found: MTA-STS, DANE, or none */
  readonly policy: "sts" | "tlsa" | "no-policy-found"
  readonly succeeded: number
  readonly failed: number
  readonly last_day: string
}

export type TlsReports = {
  readonly object: "tls_reports"
  readonly domain: DomainName
  readonly days: number
  readonly verified: boolean
  /** Address at which this service receives the reports; `null` if it receives none */
  readonly report_address: string | null
  /** Reports of the period without a genuine signature, which the other numbers leave out */
  readonly unverified_reports: number
  /** Those with the newest reports first */
  readonly reporters: ReadonlyArray<Reporter>
  /** Record to publish so that reports come here */
  readonly record: ReportRecord | null
  /** Sessions of mail servers that delivered to the domain */
  readonly policies: ReadonlyArray<TlsPolicy>
  /** Those with the most sessions first */
  readonly failures: ReadonlyArray<TlsFailure>
}

export type TriedTemplateSource = {
  /** Liquid; becomes one line */
  readonly subject?: string | null
  /** Liquid in HTML: what variables hold is escaped for the place where they stand */
  readonly html?: string | null
  /** Liquid; derived from the HTML if absent */
  readonly text?: string | null
  /** Liquid; what mail programs show beside the subject */
  readonly preheader?: string | null
  /** Liquid by default. Words in the languages of other services are kept as they are, and translated to be rendered */
  readonly language?: TemplateLanguage | null
  /** Sender of messages that name none */
  readonly from?: string | null
  /** Reply addresses of messages that name none */
  readonly reply_to?: ReadonlyArray<string> | null
  /** Alias of the layout around the HTML and the text */
  readonly layout?: string | null
  /** Words in other languages, by BCP 47 tag */
  readonly locales?: { readonly [name: string]: NewTemplateWords } | null
  /** JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without it, none is checked */
  readonly variables?: { readonly [name: string]: unknown } | null
}

export type UsedTemplate = {
  readonly id: TemplateId
  readonly version: number
  readonly locale: string | null
}

export type UserId = string

export type Webhook = {
  readonly object: "webhook"
  readonly id: WebhookId
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly description: string | null
  readonly format: WebhookFormat
  /** Whether calls have the headers `svix-id`, `svix-timestamp` and `svix-signature` beside `webhook-*`, with the same values */
  readonly svix_headers: boolean
  /** Whether calls for received mail in the formats `postmark` and `sendgrid` have the mail as it came, as `RawEmail` or `email`. Absent if not */
  readonly include_raw?: true
  readonly enabled: boolean
  readonly disabled_reason: "manual" | "gone" | "failing" | null
  /** Verifies the signatures of the format `sendgrid` (ECDSA, SPKI in base64), until the secret is rotated; `null` for other formats */
  readonly public_key: string | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export type WebhookAttempt = {
  readonly at: Timestamp
  readonly url: string
  /** The IP address that the host name resolved to */
  readonly address: string | null
  readonly request_headers: { readonly [name: string]: string }
  readonly status: number | null
  readonly response_headers: { readonly [name: string]: string }
  /** The first 4 KB */
  readonly response_body: string | null
  readonly duration_ms: number
  /** Why there was no complete response */
  readonly error: string | null
  /** `false` if nothing was called, such as for a disabled webhook; `error` says why. It does not count as an attempt. Absent otherwise */
  readonly called?: false
}

/** Fields that are left out stay as they are */
export type WebhookChange = {
  readonly url?: WebhookUrlInput
  readonly events?: ReadonlyArray<WebhookSubscription>
  readonly description?: string | null
  readonly format?: WebhookFormat
  /** Whether calls have the headers `svix-id`, `svix-timestamp` and `svix-signature` beside `webhook-*`, with the same values */
  readonly svix_headers?: boolean
  /** Whether calls for received mail in the formats `postmark` and `sendgrid` have the mail as it came, as `RawEmail` or `email` */
  readonly include_raw?: boolean
  readonly enabled?: boolean
}

export type WebhookCreation = {
  readonly url: WebhookUrlInput
  /** Event types to receive, or `*` for all, including future ones */
  readonly events: ReadonlyArray<WebhookSubscription>
  /** Optional description */
  readonly description?: string | null
  /** Payload of the calls: Waybill's own (`waybill`, by default), or that of another service, which has fewer events */
  readonly format?: WebhookFormat | null
  /** Whether calls have the headers `svix-id`, `svix-timestamp` and `svix-signature` beside `webhook-*`, with the same values. `true` by default for the format `resend` */
  readonly svix_headers?: boolean | null
  /** Whether calls for received mail in the formats `postmark` and `sendgrid` have the mail as it came, as `RawEmail` or `email` */
  readonly include_raw?: boolean | null
  /** `true` by default */
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
  /** False for an event of test mail */
  readonly livemode: boolean
  /** `pending` until a call is accepted (`delivered`) or the delivery is given up (`failed`) */
  readonly status: "pending" | "delivered" | "failed"
  /** Calls that were made */
  readonly attempts: number
  readonly created_at: Timestamp
  /** When the next call is due; `null` if none is. While the endpoint is at its limit of simultaneous calls, which is lower while it does not answer, other calls are held: their time is moved on by seconds to five minutes */
  readonly next_attempt_at: Timestamp | null
  readonly delivered_at: Timestamp | null
  /** HTTP status of the last call that was made; `null` if there was none, or no response */
  readonly last_status: number | null
  /** The first 200 characters of the last response, or why there was none, or why nothing was called; `null` if it was empty */
  readonly last_answer: string | null
  /** The email that the event is about; `null` for other events */
  readonly email_id: EmailId | null
  /** The recipient that the event is about, or the first one of its email; `null` for events that are not about an email */
  readonly recipient: string | null
}

export type WebhookDeliveryDetail = WebhookDelivery & {
  /** The body of an attempt now: the event as JSON, in the webhook's format; empty if that format has no such event */
  readonly request_body: string
  /** Every attempt, oldest first, and why a call was not made */
  readonly history: ReadonlyArray<WebhookAttempt>
}

export type WebhookDeliveryId = string

export type WebhookFormat = "waybill" | "resend" | "postmark" | "sendgrid"

export type WebhookId = string

export type WebhookReplay = {
  readonly object: "webhook_replay"
  readonly webhook_id: WebhookId
  /** Number of queued calls */
  readonly queued: number
  /** Whether the range has more events than one replay takes; continue with `next_position` */
  readonly has_more: boolean
  /** The `after_position` of the next replay of this range; `null` if all of it is queued */
  readonly next_position: Position | null
}

export type WebhookReplayRange = {
  readonly created_after: TimestampInput
  readonly created_before: TimestampInput
  /** Continues a range: the `next_position` of the previous replay */
  readonly after_position?: PositionFrom | null
  /** Only these types; by default all that the webhook subscribes to */
  readonly events?: ReadonlyArray<WebhookSubscription> | null
}

export type WebhookSubscription = "email.queued" | "email.sent" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "email.opened" | "email.clicked" | "email.received" | "domain.created" | "domain.verified" | "domain.degraded" | "domain.failed" | "domain.deleted" | "suppression.added" | "suppression.removed" | "api_key.created" | "api_key.revoked" | "webhook.disabled" | "*"

/** An https URL, or an http URL in a network that the operator allows (WEBHOOK_ALLOW_NETWORKS) */
export type WebhookUrlInput = string

export type WebhookWithSecret = Webhook & {
  /** Verifies signatures (Standard Webhooks). Shown at creation and rotation only. */
  readonly secret: string
}

export interface LogsQuery {
  readonly limit?: number | undefined
  readonly after?: EmailId | undefined
  readonly before?: EmailId | undefined
  readonly from?: AddressInput | undefined
  readonly to?: AddressInput | undefined
  /** Part of the address of a recipient, in any case. `^` before it means where a word of the address begins, and `$` after it where one ends: `^ana` finds ana.silva@ and not tanaka@ */
  readonly recipient?: string | undefined
  /** Part of the subject, in any case */
  readonly subject?: string | undefined
  /** Emails with all of these tags */
  readonly tag?: string | ReadonlyArray<string> | undefined
  readonly metadata?: { readonly [name: string]: string } | undefined
  readonly domain?: DomainNameInput | undefined
  /** One or several of queued, deferred, sent, delivered, bounced, failed, suppressed, canceled, complained, scheduled, separated by commas. `scheduled` is queued with `scheduled_at` in the future */
  readonly status?: EmailStatus | "scheduled" | ReadonlyArray<EmailStatus | "scheduled"> | undefined
  /** One or several of queued, deferred, sent, delivered, bounced, failed, suppressed, canceled, complained, separated by commas. Emails match if any recipient has one of them, whatever the status of the email. With `to`, `recipient`, `provider` or `code`, the same recipient has to match */
  readonly recipient_status?: EmailStatus | ReadonlyArray<EmailStatus> | undefined
  /** One or several SMTP reply codes from 400 to 599, or classes of them, separated by commas. Emails match if a recipient is bounced, failed or deferred and the last reply about it had one of them. With `to`, `recipient` or `provider`, the same recipient has to match */
  readonly code?: string | ReadonlyArray<string> | undefined
  /** One or several of gmail, outlook, yahoo, icloud, gmx, proton, orange, telekom, qq, netease, mailru, yandex, comcast, separated by commas. Emails match if a recipient has a mailbox at one of these providers, by all of its domains: outlook is also hotmail.com and live.com */
  readonly provider?: "gmail" | "outlook" | "yahoo" | "icloud" | "gmx" | "proton" | "orange" | "telekom" | "qq" | "netease" | "mailru" | "yandex" | "comcast" | ReadonlyArray<"gmail" | "outlook" | "yahoo" | "icloud" | "gmx" | "proton" | "orange" | "telekom" | "qq" | "netease" | "mailru" | "yandex" | "comcast"> | undefined
  readonly api_key_id?: ApiKeyId | undefined
  readonly template?: TemplateId | undefined
  readonly created_after?: string | Date | undefined
  readonly created_before?: string | Date | undefined
  readonly scheduled_after?: string | Date | undefined
  readonly scheduled_before?: string | Date | undefined
  readonly message_id?: EmailIdInput | undefined
  /** A search as it is typed in the dashboard: `from:`, `to:`, `subject:`, `tag:`, `metadata:`, `domain:`, `is:`, `anyone:`, `code:`, `provider:`, `key:`, `template:`, `since:`, `until:`, `scheduled:`, `id:`, and up to 5 words. Each word must be a part of the address of a recipient or of the sender, of the subject or of a tag, or the id or at least its first 10 characters, in any case, or the whole value of a pair of metadata. Words in double quotes are searched together. Dates without a time zone are in UTC */
  readonly q?: string | undefined
  /** `true` counts the emails that match, in `total` */
  readonly count?: boolean | undefined
}

export interface SuppressionsQuery {
  readonly limit?: number | undefined
  readonly after?: SuppressionId | undefined
  /** Part of the address, in any case */
  readonly q?: string | undefined
  readonly reason?: SuppressionReason | undefined
  readonly source?: SuppressionSource | undefined
  readonly created_after?: string | Date | undefined
  readonly created_before?: string | Date | undefined
}

export interface EventsQuery {
  readonly after_position?: PositionFrom | undefined
  readonly created_after?: string | Date | undefined
  /** One or several types, separated by commas */
  readonly types?: string | ReadonlyArray<string> | undefined
  /** Adds the body of the webhook call to each event */
  readonly include?: "webhook_payload" | undefined
  readonly limit?: number | undefined
  /** How long to wait for an event if there is none, at most 20s */
  readonly wait?: string | undefined
}

export interface InboundQuery {
  readonly limit?: number | undefined
  readonly after?: InboundId | undefined
  readonly before?: InboundId | undefined
  readonly to?: AddressInput | undefined
  readonly from?: AddressInput | undefined
  /** Part of the subject, in any case */
  readonly subject?: string | undefined
  /** Up to 5 words. Each must be a part of the subject, or the name or the address of the sender or of a recipient, in any case. Words in double quotes are searched together */
  readonly q?: string | undefined
  readonly domain?: DomainNameInput | undefined
  readonly email_id?: EmailId | undefined
  readonly thread_id?: ThreadId | undefined
  readonly status?: "received" | "dropped" | "rejected" | undefined
  readonly verdict?: "pass" | "fail" | "none" | undefined
  readonly created_after?: string | Date | undefined
  readonly created_before?: string | Date | undefined
}

export interface TemplatesQuery {
  readonly limit?: number | undefined
  readonly after?: TemplateId | undefined
  readonly kind?: TemplateKind | undefined
  readonly status?: "draft" | "published" | "archived" | undefined
  /** Alias of a layout or partial that they use */
  readonly uses?: string | undefined
  readonly q?: string | undefined
}

export interface AuditQuery {
  readonly limit?: number | undefined
  readonly after?: Position | undefined
  /** Up to 5 words. Each must be a part of the action, of the name or the id of the object or the actor, in any case. Words in double quotes are searched together */
  readonly q?: string | undefined
  /** Kind of the object */
  readonly stream?: "account" | "api_key" | "domain" | "inbound" | "inbound_route" | "suppression" | "team" | "template" | "test_clock" | "webhook" | undefined
  /** Id of the key or the member */
  readonly actor_id?: ApiKeyId | UserId | undefined
  readonly created_after?: string | Date | undefined
  readonly created_before?: string | Date | undefined
}

export interface DomainReportsQuery {
  readonly days?: number | undefined
  readonly limit?: number | undefined
  readonly verified?: boolean | undefined
}

export interface RequestsQuery {
  readonly limit?: number | undefined
  readonly after?: RequestId | undefined
  /** One or several statuses or classes of statuses, separated by commas */
  readonly status?: string | ReadonlyArray<string> | undefined
  readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | "HEAD" | undefined
  readonly path?: string | undefined
  readonly api_key_id?: ApiKeyId | undefined
  readonly request_id?: RequestId | undefined
  readonly recipient?: AddressInput | undefined
  readonly created_after?: string | Date | undefined
  readonly created_before?: string | Date | undefined
}

export interface SandboxQuery {
  readonly limit?: number | undefined
  readonly after?: EmailId | undefined
  readonly to?: AddressInput | undefined
  /** A search as it is typed in the dashboard: `from:`, `to:`, `subject:`, `tag:`, `metadata:`, `domain:`, `is:`, `anyone:`, `code:`, `provider:`, `key:`, `template:`, `since:`, `until:`, `scheduled:`, `id:`, and up to 5 words. Each word must be a part of the address of a recipient or of the sender, of the subject or of a tag, or the id or at least its first 10 characters, in any case, or the whole value of a pair of metadata. Words in double quotes are searched together. Dates without a time zone are in UTC */
  readonly q?: string | undefined
  /** How long to wait for a message if there is none, at most 60s */
  readonly wait?: string | undefined
}

export interface StatsQuery {
  readonly from?: string | Date | undefined
  readonly to?: string | Date | undefined
  /** hour or day; domain, tag, template, api_key or provider; or one of each separated by a comma; without it, one row for the whole range */
  readonly group_by?: Stats["group_by"][number] | ReadonlyArray<Stats["group_by"][number]> | undefined
  readonly domain?: DomainNameInput | undefined
  readonly tag?: string | undefined
  readonly template?: TemplateId | undefined
}

export interface WebhookDeliveriesQuery {
  readonly limit?: number | undefined
  readonly after?: WebhookDeliveryId | undefined
  readonly status?: "pending" | "delivered" | "failed" | undefined
  /** `true` lists deliveries for which the endpoint was called, `false` those for which it was not */
  readonly called?: boolean | undefined
  readonly email_id?: EmailId | undefined
}
