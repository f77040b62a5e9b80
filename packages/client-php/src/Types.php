<?php

// Generated from the API by npm run generate. A test checks that it is current.

declare(strict_types=1);

namespace Waybill;

/**
 * What the API takes and returns. Times in answers are ISO 8601, in UTC.
 *
 * @phpstan-type EmailStatus 'queued'|'deferred'|'sent'|'delivered'|'bounced'|'failed'|'suppressed'|'canceled'|'complained'
 *
 * @phpstan-type SuppressionReason 'hard_bounce'|'complaint'|'manual'|'unsubscribe'
 *
 * @phpstan-type DomainStatus 'pending'|'verified'|'degraded'|'failed'
 *
 * @phpstan-type SuppressionSource 'email'|'request'
 *
 * @phpstan-type TemplateKind 'template'|'layout'|'partial'
 *
 * @phpstan-type TemplateLanguage 'liquid'|'handlebars'|'mustachio'|'resend'
 *
 * @phpstan-type Attachment array{
 *   filename: string,
 *   content: string,
 *   content_type?: string|null,
 *   content_id?: string|null,
 *   alternative?: bool,
 * }
 *
 * @phpstan-type ReplyTracking array{
 *   forward?: bool|null,
 * }
 *
 * @phpstan-type EmailTracking array{
 *   opens?: bool|null,
 *   clicks?: bool|null,
 * }
 *
 * @phpstan-type EmailMessage array{
 *   from: string,
 *   to: string|list<string>,
 *   subject: string,
 *   html?: string|null,
 *   text?: string|null,
 *   cc?: string|list<string>|null,
 *   bcc?: string|list<string>|null,
 *   reply_to?: string|list<string>|null,
 *   headers?: array<string, string>|null,
 *   tags?: list<string>|null,
 *   scheduled_at?: \DateTimeInterface|string|null,
 *   attachments?: list<Attachment>|null,
 *   list_unsubscribe?: bool|null,
 *   metadata?: array<string, string>|null,
 *   accept_suppressed?: bool|null,
 *   reply_tracking?: ReplyTracking|null,
 *   tracking?: EmailTracking|null,
 * }
 *
 * @phpstan-type Acknowledgement array{
 *   id: string,
 *   status: 'queued',
 *   created_at: string,
 * }
 *
 * @phpstan-type ErrorDetail array{
 *   path: string,
 *   message: string,
 * }
 *
 * @phpstan-type BatchError array{
 *   code: 'invalid_request'|'unauthorized'|'forbidden'|'not_found'|'unprocessable'|'rate_limited'|'internal_error',
 *   message: string,
 *   reason: string,
 *   docs?: string,
 *   request_id: string,
 *   details: list<ErrorDetail>,
 * }
 *
 * @phpstan-type BatchResult array{
 *   index: int,
 *   id: string|null,
 *   status: 'queued'|null,
 *   created_at: string|null,
 *   error: BatchError|null,
 * }
 *
 * @phpstan-type BatchAnswer array{
 *   object: 'batch',
 *   data: list<BatchResult>,
 * }
 *
 * @phpstan-type UsedTemplate array{
 *   id: string,
 *   version: int,
 *   locale: string|null,
 * }
 *
 * @phpstan-type AppliedTracking array{
 *   opens: bool,
 *   clicks: bool,
 * }
 *
 * @phpstan-type EmailTrouble array{
 *   recipient: string,
 *   status: EmailStatus,
 *   category: string|null,
 *   code: int|null,
 *   enhanced_code: string|null,
 *   message: string|null,
 * }
 *
 * @phpstan-type RecipientCounts array{
 *   queued?: int,
 *   deferred?: int,
 *   sent?: int,
 *   delivered?: int,
 *   bounced?: int,
 *   failed?: int,
 *   suppressed?: int,
 *   canceled?: int,
 *   complained?: int,
 * }
 *
 * @phpstan-type SmtpAnswer array{
 *   code: int|null,
 *   enhanced_code: string|null,
 *   response: string|null,
 *   mx: string|null,
 *   tls: string|null,
 *   duration_ms: int|null,
 *   category: string|null,
 * }
 *
 * @phpstan-type EmailRecipient array{
 *   address: string,
 *   kind: 'to'|'cc'|'bcc',
 *   status: EmailStatus,
 *   attempts: int,
 *   last_event_at: string,
 *   suppression: SuppressionReason|null,
 *   smtp: SmtpAnswer|null,
 * }
 *
 * @phpstan-type EmailLog array{
 *   object: 'email_log',
 *   id: string,
 *   message_id: string,
 *   status: EmailStatus,
 *   from: string,
 *   to: list<string>,
 *   cc: list<string>,
 *   bcc: list<string>,
 *   reply_to: list<string>,
 *   subject: string,
 *   tags: list<string>,
 *   metadata: array<string, string>,
 *   template: UsedTemplate|null,
 *   created_at: string,
 *   updated_at: string,
 *   scheduled_at: string|null,
 *   delivered_at: string|null,
 *   next_attempt_at: string|null,
 *   attempts: int,
 *   tracking: AppliedTracking,
 *   opens: int,
 *   clicks: int,
 *   api_key_id: string|null,
 *   test_clock: string|null,
 *   domain: string,
 *   livemode: bool,
 *   size_bytes: int,
 *   error: EmailTrouble|null,
 *   version: int,
 *   recipient_counts: RecipientCounts,
 *   recipients: list<EmailRecipient>,
 * }
 *
 * @phpstan-type AppliedReplyTracking array{
 *   forward: bool,
 * }
 *
 * @phpstan-type ContentAttachment array{
 *   filename: string,
 *   content_type: string,
 *   content_id: string|null,
 *   size_bytes: int,
 * }
 *
 * @phpstan-type EmailContent array{
 *   html: string|null,
 *   text: string|null,
 *   attachments: list<ContentAttachment>,
 * }
 *
 * @phpstan-type EmailLogWithContent array{
 *   object: 'email_log',
 *   id: string,
 *   message_id: string,
 *   status: EmailStatus,
 *   from: string,
 *   to: list<string>,
 *   cc: list<string>,
 *   bcc: list<string>,
 *   reply_to: list<string>,
 *   subject: string,
 *   tags: list<string>,
 *   metadata: array<string, string>,
 *   template: UsedTemplate|null,
 *   created_at: string,
 *   updated_at: string,
 *   scheduled_at: string|null,
 *   delivered_at: string|null,
 *   next_attempt_at: string|null,
 *   attempts: int,
 *   tracking: AppliedTracking,
 *   opens: int,
 *   clicks: int,
 *   api_key_id: string|null,
 *   test_clock: string|null,
 *   domain: string,
 *   livemode: bool,
 *   size_bytes: int,
 *   error: EmailTrouble|null,
 *   version: int,
 *   recipient_counts: RecipientCounts,
 *   recipients: list<EmailRecipient>,
 *   forward_of: string|null,
 *   reply_tracking: AppliedReplyTracking|null,
 *   resend_of: string|null,
 *   copies: list<string>,
 *   content: EmailContent|null,
 * }
 *
 * @phpstan-type DnsRecord array{
 *   purpose: 'dkim'|'return_path'|'spf'|'dmarc'|'tracking'|'receiving',
 *   type: 'TXT'|'CNAME'|'MX',
 *   host: string,
 *   zone_host: string|null,
 *   name: string,
 *   value: string,
 *   priority: int|null,
 *   ttl: int,
 *   required: bool,
 *   status: 'not_checked'|'verified'|'missing'|'mismatch'|'unavailable'|'conflict',
 *   found: list<string>,
 *   error: string|null,
 * }
 *
 * @phpstan-type Domain array{
 *   object: 'domain',
 *   id: string,
 *   name: string,
 *   status: DomainStatus,
 *   created_at: string,
 *   verified_at: string|null,
 *   last_checked_at: string|null,
 *   next_check_at: string|null,
 *   zone: string|null,
 *   open_tracking: bool,
 *   click_tracking: bool,
 *   tracking_domain: string|null,
 *   receiving: bool,
 *   records: list<DnsRecord>,
 * }
 *
 * @phpstan-type DomainChange array{
 *   open_tracking?: bool|null,
 *   click_tracking?: bool|null,
 *   tracking_domain?: string|null,
 *   receiving?: bool|null,
 * }
 *
 * @phpstan-type DomainDeleted array{
 *   object: 'domain',
 *   id: string,
 *   name: string,
 *   deleted: true,
 * }
 *
 * @phpstan-type Suppression array{
 *   object: 'suppression',
 *   id: string,
 *   email: string,
 *   reason: SuppressionReason,
 *   email_id: string|null,
 *   source: SuppressionSource,
 *   livemode: bool,
 *   created_at: string,
 * }
 *
 * @phpstan-type SuppressionAddition array{
 *   email: string,
 *   reason?: SuppressionReason|null,
 * }
 *
 * @phpstan-type SuppressionBatch array{
 *   add?: list<SuppressionAddition>,
 *   remove?: list<string>,
 * }
 *
 * @phpstan-type SuppressionBatchEntry array{
 *   index: int,
 *   email: string,
 *   status: 'added'|'removed'|'unchanged'|'rejected',
 *   message: string|null,
 * }
 *
 * @phpstan-type SuppressionBatchAnswer array{
 *   object: 'suppression_batch',
 *   added: int,
 *   removed: int,
 *   unchanged: int,
 *   rejected: int,
 *   data: list<SuppressionBatchEntry>,
 * }
 *
 * @phpstan-type SuppressionRemoved array{
 *   object: 'suppression',
 *   id: string,
 *   email: string,
 *   deleted: true,
 * }
 *
 * @phpstan-type Actor array{
 *   type: 'api_key'|'user'|'operator'|'system',
 *   id: string|null,
 * }
 *
 * @phpstan-type Event array{
 *   object: 'event',
 *   id: string,
 *   type: string,
 *   stream: string,
 *   stream_id: string,
 *   version: int,
 *   position: string,
 *   livemode: bool,
 *   occurred_at: string,
 *   actor: Actor,
 *   request_id: string|null,
 *   data: array<string, mixed>,
 *   webhook_payload?: array<string, mixed>|null,
 * }
 *
 * @phpstan-type EventFeed array{
 *   object: 'list',
 *   has_more: bool,
 *   next_position: string,
 *   data: list<Event>,
 * }
 *
 * @phpstan-type InboundEnvelope array{
 *   from: string,
 *   to: list<string>,
 *   remote_ip: string|null,
 *   helo: string|null,
 *   tls: string|null,
 * }
 *
 * @phpstan-type InboundPerson array{
 *   address: string,
 *   name: string|null,
 * }
 *
 * @phpstan-type InboundSignature array{
 *   domain: string,
 *   result: 'pass'|'fail'|'softfail'|'neutral'|'none'|'policy'|'temperror'|'permerror',
 * }
 *
 * @phpstan-type InboundAuthentication array{
 *   spf: 'pass'|'fail'|'softfail'|'neutral'|'none'|'policy'|'temperror'|'permerror',
 *   dkim: list<InboundSignature>,
 *   dmarc: 'pass'|'fail'|'softfail'|'neutral'|'none'|'policy'|'temperror'|'permerror',
 *   arc: 'pass'|'fail'|'softfail'|'neutral'|'none'|'policy'|'temperror'|'permerror',
 * }
 *
 * @phpstan-type InboundRouteApplied array{
 *   id: string,
 *   action: 'webhook'|'forward'|'reject'|'drop'|'store',
 *   result: string,
 *   email_id: string|null,
 *   reason: string|null,
 * }
 *
 * @phpstan-type InboundForwarded array{
 *   result: string,
 *   email_id: string|null,
 *   reason: string|null,
 * }
 *
 * @phpstan-type InboundAttachment array{
 *   id: string,
 *   filename: string,
 *   content_type: string,
 *   size_bytes: int,
 *   content_id: string|null,
 *   disposition: 'attachment'|'inline',
 *   url: string,
 *   expires_at: string,
 * }
 *
 * @phpstan-type InboundEmail array{
 *   object: 'inbound_email',
 *   id: string,
 *   status: 'received'|'dropped'|'rejected',
 *   livemode: bool,
 *   created_at: string,
 *   email_id: string|null,
 *   thread_id: string,
 *   envelope: InboundEnvelope,
 *   from: InboundPerson|null,
 *   to: list<InboundPerson>,
 *   cc: list<InboundPerson>,
 *   reply_to: list<InboundPerson>,
 *   subject: string|null,
 *   date: string|null,
 *   message_id: string|null,
 *   in_reply_to: string|null,
 *   references: list<string>,
 *   automatic: 'auto_reply'|'bounce'|'list'|null,
 *   domain: string,
 *   mailbox_hash: string|null,
 *   auth: InboundAuthentication,
 *   verdict: 'pass'|'fail'|'none',
 *   routes: list<InboundRouteApplied>,
 *   replies: list<string>,
 *   forwards: list<InboundForwarded>,
 *   size_bytes: int,
 *   complete: bool,
 *   attachments: list<InboundAttachment>,
 * }
 *
 * @phpstan-type InboundHeader array{
 *   name: string,
 *   value: string,
 * }
 *
 * @phpstan-type InboundEmailWhole array{
 *   object: 'inbound_email',
 *   id: string,
 *   status: 'received'|'dropped'|'rejected',
 *   livemode: bool,
 *   created_at: string,
 *   email_id: string|null,
 *   thread_id: string,
 *   envelope: InboundEnvelope,
 *   from: InboundPerson|null,
 *   to: list<InboundPerson>,
 *   cc: list<InboundPerson>,
 *   reply_to: list<InboundPerson>,
 *   subject: string|null,
 *   date: string|null,
 *   message_id: string|null,
 *   in_reply_to: string|null,
 *   references: list<string>,
 *   automatic: 'auto_reply'|'bounce'|'list'|null,
 *   domain: string,
 *   mailbox_hash: string|null,
 *   auth: InboundAuthentication,
 *   verdict: 'pass'|'fail'|'none',
 *   routes: list<InboundRouteApplied>,
 *   replies: list<string>,
 *   forwards: list<InboundForwarded>,
 *   size_bytes: int,
 *   complete: bool,
 *   attachments: list<InboundAttachment>,
 *   headers: list<InboundHeader>,
 *   text: string|null,
 *   html: string|null,
 *   stripped_text: string|null,
 * }
 *
 * @phpstan-type InboundEmailDeleted array{
 *   object: 'inbound_email',
 *   id: string,
 *   deleted: true,
 * }
 *
 * @phpstan-type InboundTest array{
 *   from?: string,
 *   to?: string|list<string>,
 *   subject?: string|null,
 *   text?: string|null,
 *   html?: string|null,
 *   in_reply_to?: string|null,
 *   attachments?: list<Attachment>|null,
 *   raw?: string|null,
 * }
 *
 * @phpstan-type InboundReply array{
 *   from: string,
 *   html?: string|null,
 *   text?: string|null,
 *   cc?: string|list<string>|null,
 *   bcc?: string|list<string>|null,
 *   reply_to?: string|list<string>|null,
 *   headers?: array<string, string>|null,
 *   tags?: list<string>|null,
 *   scheduled_at?: \DateTimeInterface|string|null,
 *   attachments?: list<Attachment>|null,
 *   list_unsubscribe?: bool|null,
 *   metadata?: array<string, string>|null,
 *   accept_suppressed?: bool|null,
 *   reply_tracking?: ReplyTracking|null,
 *   tracking?: EmailTracking|null,
 * }
 *
 * @phpstan-type InboundRouteMatch array{
 *   to?: string|null,
 *   from?: string|null,
 *   subject?: string|null,
 *   verdict?: 'pass'|'fail'|'none'|null,
 * }
 *
 * @phpstan-type InboundRouteAction array{
 *   type: 'webhook'|'forward'|'reject'|'drop'|'store',
 *   webhook_id?: string|null,
 *   to?: list<string>,
 *   message?: string|null,
 * }
 *
 * @phpstan-type InboundRouteCreation array{
 *   match?: InboundRouteMatch|null,
 *   action: InboundRouteAction,
 *   position?: int|null,
 *   enabled?: bool|null,
 *   stop?: bool|null,
 * }
 *
 * @phpstan-type InboundRouteChange array{
 *   match?: InboundRouteMatch|null,
 *   action?: InboundRouteAction,
 *   position?: int,
 *   enabled?: bool,
 *   stop?: bool,
 * }
 *
 * @phpstan-type InboundRoute array{
 *   object: 'inbound_route',
 *   id: string,
 *   match: InboundRouteMatch,
 *   action: InboundRouteAction,
 *   position: int,
 *   enabled: bool,
 *   stop: bool,
 *   created_at: string,
 *   updated_at: string,
 * }
 *
 * @phpstan-type InboundRouteDeleted array{
 *   object: 'inbound_route',
 *   id: string,
 *   deleted: true,
 * }
 *
 * @phpstan-type InboundRouteTrial array{
 *   to: string|list<string>,
 *   from: string,
 *   subject?: string|null,
 *   verdict?: 'pass'|'fail'|'none'|null,
 * }
 *
 * @phpstan-type TestedInboundRoute array{
 *   id: string,
 *   action: 'webhook'|'forward'|'reject'|'drop'|'store',
 *   applies: bool,
 *   reason: string,
 * }
 *
 * @phpstan-type InboundRouteTest array{
 *   object: 'inbound_route_test',
 *   status: 'received'|'dropped'|'rejected',
 *   routes: list<TestedInboundRoute>,
 * }
 *
 * @phpstan-type ThreadEntry array{
 *   direction: 'sent'|'received',
 *   id: string,
 *   from: string,
 *   to: list<string>,
 *   subject: string|null,
 *   status: string,
 *   created_at: string,
 * }
 *
 * @phpstan-type Thread array{
 *   object: 'thread',
 *   id: string,
 *   data: list<ThreadEntry>,
 * }
 *
 * @phpstan-type TemplateChoice array{
 *   id?: string|null,
 *   alias?: string|null,
 *   version?: int|null,
 *   locale?: string|null,
 *   time_zone?: string|null,
 *   variables?: array<string, mixed>|null,
 * }
 *
 * @phpstan-type TemplatedMessage array{
 *   from?: string|null,
 *   to: string|list<string>,
 *   subject?: string|null,
 *   cc?: string|list<string>|null,
 *   bcc?: string|list<string>|null,
 *   reply_to?: string|list<string>|null,
 *   headers?: array<string, string>|null,
 *   tags?: list<string>|null,
 *   scheduled_at?: \DateTimeInterface|string|null,
 *   attachments?: list<Attachment>|null,
 *   list_unsubscribe?: bool|null,
 *   metadata?: array<string, string>|null,
 *   accept_suppressed?: bool|null,
 *   reply_tracking?: ReplyTracking|null,
 *   tracking?: EmailTracking|null,
 *   template: TemplateChoice,
 * }
 *
 * @phpstan-type ListedTemplate array{
 *   object: 'template',
 *   id: string,
 *   kind: TemplateKind,
 *   alias: string|null,
 *   name: string,
 *   description: string|null,
 *   status: 'draft'|'published'|'archived',
 *   current_version: int|null,
 *   versions: int,
 *   draft_differs: bool,
 *   missing_parts: list<string>,
 *   languages: list<string>,
 *   created_at: string,
 *   updated_at: string,
 *   used_at: string|null,
 * }
 *
 * @phpstan-type TemplateWords array{
 *   subject: string|null,
 *   html: string|null,
 *   text: string|null,
 *   preheader: string|null,
 * }
 *
 * @phpstan-type TemplateSource array{
 *   subject: string|null,
 *   html: string|null,
 *   text: string|null,
 *   preheader: string|null,
 *   language?: TemplateLanguage,
 *   from: string|null,
 *   reply_to: list<string>,
 *   layout: string|null,
 *   locales: array<string, TemplateWords>,
 *   variables: array<string, mixed>|null,
 *   number: int|null,
 *   notes: string|null,
 *   created_by: string|null,
 *   published_at: string|null,
 * }
 *
 * @phpstan-type Template array{
 *   object: 'template',
 *   id: string,
 *   kind: TemplateKind,
 *   alias: string|null,
 *   name: string,
 *   description: string|null,
 *   status: 'draft'|'published'|'archived',
 *   current_version: int|null,
 *   versions: int,
 *   draft_differs: bool,
 *   missing_parts: list<string>,
 *   languages: list<string>,
 *   created_at: string,
 *   updated_at: string,
 *   used_at: string|null,
 *   draft: TemplateSource,
 *   etag: string,
 * }
 *
 * @phpstan-type NewTemplateWords array{
 *   subject?: string|null,
 *   html?: string|null,
 *   text?: string|null,
 *   preheader?: string|null,
 * }
 *
 * @phpstan-type TemplateCreation array{
 *   name: string,
 *   kind?: TemplateKind|null,
 *   alias?: string|null,
 *   description?: string|null,
 *   subject?: string|null,
 *   html?: string|null,
 *   text?: string|null,
 *   preheader?: string|null,
 *   language?: TemplateLanguage|null,
 *   from?: string|null,
 *   reply_to?: list<string>|null,
 *   layout?: string|null,
 *   locales?: array<string, NewTemplateWords>|null,
 *   variables?: array<string, mixed>|null,
 * }
 *
 * @phpstan-type ChangedTemplateWords array{
 *   subject?: string|null,
 *   html?: string|null,
 *   text?: string|null,
 *   preheader?: string|null,
 * }
 *
 * @phpstan-type TemplateChange array{
 *   name?: string,
 *   alias?: string|null,
 *   description?: string|null,
 *   subject?: string|null,
 *   html?: string|null,
 *   text?: string|null,
 *   preheader?: string|null,
 *   language?: TemplateLanguage|null,
 *   from?: string|null,
 *   reply_to?: list<string>|null,
 *   layout?: string|null,
 *   locales?: array<string, ChangedTemplateWords>|null,
 *   variables?: array<string, mixed>|null,
 *   unchanged_since?: string|null,
 * }
 *
 * @phpstan-type TemplateArchived array{
 *   object: 'template',
 *   id: string,
 *   archived: true,
 * }
 *
 * @phpstan-type TemplatePublication array{
 *   notes?: string|null,
 *   activate?: bool|null,
 *   unchanged_since?: string|null,
 * }
 *
 * @phpstan-type ListedTemplateVersion array{
 *   object: 'template_version',
 *   template_id: string,
 *   number: int,
 *   notes: string|null,
 *   created_by: string|null,
 *   published_at: string,
 * }
 *
 * @phpstan-type TemplateVersion array{
 *   object: 'template_version',
 *   template_id: string,
 *   number: int,
 *   notes: string|null,
 *   created_by: string|null,
 *   published_at: string,
 *   subject: string|null,
 *   html: string|null,
 *   text: string|null,
 *   preheader: string|null,
 *   language?: TemplateLanguage,
 *   from: string|null,
 *   reply_to: list<string>,
 *   layout: string|null,
 *   locales: array<string, TemplateWords>,
 *   variables: array<string, mixed>|null,
 * }
 *
 * @phpstan-type TemplateDuplication array{
 *   name?: string|null,
 *   alias?: string|null,
 * }
 *
 * @phpstan-type TriedTemplateSource array{
 *   subject?: string|null,
 *   html?: string|null,
 *   text?: string|null,
 *   preheader?: string|null,
 *   language?: TemplateLanguage|null,
 *   from?: string|null,
 *   reply_to?: list<string>|null,
 *   layout?: string|null,
 *   locales?: array<string, NewTemplateWords>|null,
 *   variables?: array<string, mixed>|null,
 * }
 *
 * @phpstan-type TemplateRendering array{
 *   version?: int|null,
 *   draft?: TriedTemplateSource|null,
 *   variables?: array<string, mixed>|null,
 *   locale?: string|null,
 *   time_zone?: string|null,
 * }
 *
 * @phpstan-type TemplateWarning array{
 *   path: string,
 *   message: string,
 * }
 *
 * @phpstan-type RenderedTemplate array{
 *   object: 'rendered_template',
 *   subject: string|null,
 *   html: string|null,
 *   text: string|null,
 *   preheader: string|null,
 *   from: string|null,
 *   locale: string|null,
 *   warnings: list<TemplateWarning>,
 * }
 *
 * @phpstan-type PushedTemplate array{
 *   alias: string,
 *   name: string,
 *   kind?: TemplateKind|null,
 *   description?: string|null,
 *   subject?: string|null,
 *   html?: string|null,
 *   text?: string|null,
 *   preheader?: string|null,
 *   language?: TemplateLanguage|null,
 *   from?: string|null,
 *   reply_to?: list<string>|null,
 *   layout?: string|null,
 *   locales?: array<string, NewTemplateWords>|null,
 *   variables?: array<string, mixed>|null,
 *   publish?: bool|null,
 *   base?: string|null,
 * }
 *
 * @phpstan-type TemplatePush array{
 *   templates: list<PushedTemplate>,
 *   publish?: bool|null,
 *   dry_run?: bool|null,
 *   notes?: string|null,
 * }
 *
 * @phpstan-type PushedTemplateResult array{
 *   alias: string,
 *   id: string|null,
 *   action: 'created'|'changed'|'published'|'unchanged',
 *   changed_fields: list<string>,
 *   version: int|null,
 *   base: string|null,
 *   etag: string,
 *   problems: list<TemplateWarning>,
 *   warnings: list<TemplateWarning>,
 * }
 *
 * @phpstan-type TemplatePushAnswer array{
 *   object: 'template_push',
 *   dry_run: bool,
 *   templates: list<PushedTemplateResult>,
 * }
 *
 * @phpstan-type NewTemplateSource array{
 *   subject?: string|null,
 *   html?: string|null,
 *   text?: string|null,
 *   preheader?: string|null,
 *   language?: TemplateLanguage|null,
 *   from?: string|null,
 *   reply_to?: list<string>|null,
 *   layout?: string|null,
 *   locales?: array<string, NewTemplateWords>|null,
 *   variables?: array<string, mixed>|null,
 * }
 *
 * @phpstan-type TemplateValidation array{
 *   object: 'template_validation',
 *   valid: bool,
 *   problems: list<TemplateWarning>,
 *   warnings: list<TemplateWarning>,
 *   suggested_variables: array<string, mixed>,
 *   sample: array<string, mixed>,
 * }
 *
 * @phpstan-type LogsQuery array{
 *   limit?: int,
 *   after?: string,
 *   before?: string,
 *   from?: string,
 *   to?: string,
 *   recipient?: string,
 *   subject?: string,
 *   tag?: list<string>,
 *   metadata?: array<string, string>,
 *   domain?: string,
 *   status?: string|list<string>,
 *   recipient_status?: string|list<string>,
 *   code?: string|list<string>,
 *   provider?: string|list<string>,
 *   api_key_id?: string,
 *   template?: string,
 *   created_after?: \DateTimeInterface|string,
 *   created_before?: \DateTimeInterface|string,
 *   scheduled_after?: \DateTimeInterface|string,
 *   scheduled_before?: \DateTimeInterface|string,
 *   message_id?: string,
 *   q?: string,
 *   count?: 'true'|'false',
 * }
 *
 * @phpstan-type SuppressionsQuery array{
 *   limit?: int,
 *   after?: string,
 *   q?: string,
 *   reason?: SuppressionReason,
 *   source?: SuppressionSource,
 *   created_after?: \DateTimeInterface|string,
 *   created_before?: \DateTimeInterface|string,
 * }
 *
 * @phpstan-type EventsQuery array{
 *   after_position?: string,
 *   created_after?: \DateTimeInterface|string,
 *   types?: string|list<string>,
 *   include?: 'webhook_payload',
 *   limit?: int,
 *   wait?: string,
 * }
 *
 * @phpstan-type InboundQuery array{
 *   limit?: int,
 *   after?: string,
 *   before?: string,
 *   to?: string,
 *   from?: string,
 *   subject?: string,
 *   q?: string,
 *   domain?: string,
 *   email_id?: string,
 *   thread_id?: string,
 *   status?: 'received'|'dropped'|'rejected',
 *   verdict?: 'pass'|'fail'|'none',
 *   created_after?: \DateTimeInterface|string,
 *   created_before?: \DateTimeInterface|string,
 * }
 *
 * @phpstan-type TemplatesQuery array{
 *   limit?: int,
 *   after?: string,
 *   kind?: TemplateKind,
 *   status?: 'draft'|'published'|'archived',
 *   uses?: string,
 *   q?: string,
 * }
 *
 * @phpstan-type EmailLogPage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<EmailLog>,
 * }
 *
 * @phpstan-type EventPage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<Event>,
 * }
 *
 * @phpstan-type DomainPage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<Domain>,
 * }
 *
 * @phpstan-type SuppressionPage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<Suppression>,
 * }
 *
 * @phpstan-type InboundEmailPage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<InboundEmail>,
 * }
 *
 * @phpstan-type InboundRoutePage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<InboundRoute>,
 * }
 *
 * @phpstan-type TemplatePage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<ListedTemplate>,
 * }
 *
 * @phpstan-type TemplateVersionPage array{
 *   object: 'list',
 *   has_more: bool,
 *   next_cursor: string|null,
 *   data: list<ListedTemplateVersion>,
 * }
 */
interface Types
{
}
