# Generated from the API by npm run generate. A test checks that it is current.
"""What the API takes and returns. Times in answers are ISO 8601, in UTC."""
from datetime import datetime
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


__all__ = [
    "Acknowledgement",
    "Actor",
    "AppliedReplyTracking",
    "AppliedTracking",
    "Attachment",
    "BatchAnswer",
    "BatchError",
    "BatchResult",
    "ChangedTemplateWords",
    "ContentAttachment",
    "DnsRecord",
    "Domain",
    "DomainChange",
    "DomainDeleted",
    "DomainPage",
    "DomainStatus",
    "EmailContent",
    "EmailLog",
    "EmailLogPage",
    "EmailLogWithContent",
    "EmailMessage",
    "EmailRecipient",
    "EmailStatus",
    "EmailTracking",
    "EmailTrouble",
    "ErrorDetail",
    "Event",
    "EventFeed",
    "EventPage",
    "EventsQuery",
    "InboundAttachment",
    "InboundAuthentication",
    "InboundEmail",
    "InboundEmailDeleted",
    "InboundEmailPage",
    "InboundEmailWhole",
    "InboundEnvelope",
    "InboundForwarded",
    "InboundHeader",
    "InboundPerson",
    "InboundQuery",
    "InboundReply",
    "InboundRoute",
    "InboundRouteAction",
    "InboundRouteApplied",
    "InboundRouteChange",
    "InboundRouteCreation",
    "InboundRouteDeleted",
    "InboundRouteMatch",
    "InboundRoutePage",
    "InboundRouteTest",
    "InboundRouteTrial",
    "InboundSignature",
    "InboundTest",
    "ListedTemplate",
    "ListedTemplateVersion",
    "LogsQuery",
    "NewTemplateSource",
    "NewTemplateWords",
    "PushedTemplate",
    "PushedTemplateResult",
    "RecipientCounts",
    "RenderedTemplate",
    "ReplyTracking",
    "SmtpAnswer",
    "Suppression",
    "SuppressionAddition",
    "SuppressionBatch",
    "SuppressionBatchAnswer",
    "SuppressionBatchEntry",
    "SuppressionPage",
    "SuppressionReason",
    "SuppressionRemoved",
    "SuppressionSource",
    "SuppressionsQuery",
    "Template",
    "TemplateArchived",
    "TemplateChange",
    "TemplateChoice",
    "TemplateCreation",
    "TemplateDuplication",
    "TemplateKind",
    "TemplateLanguage",
    "TemplatePage",
    "TemplatePublication",
    "TemplatePush",
    "TemplatePushAnswer",
    "TemplateRendering",
    "TemplateSource",
    "TemplateValidation",
    "TemplateVersion",
    "TemplateVersionPage",
    "TemplateWarning",
    "TemplateWords",
    "TemplatedMessage",
    "TemplatesQuery",
    "TestedInboundRoute",
    "Thread",
    "ThreadEntry",
    "TriedTemplateSource",
    "UsedTemplate",
]


EmailStatus = Literal["queued", "deferred", "sent", "delivered", "bounced", "failed", "suppressed", "canceled", "complained"]
SuppressionReason = Literal["hard_bounce", "complaint", "manual", "unsubscribe"]
DomainStatus = Literal["pending", "verified", "degraded", "failed"]
SuppressionSource = Literal["email", "request"]
TemplateKind = Literal["template", "layout", "partial"]
TemplateLanguage = Literal["liquid", "handlebars", "mustachio", "resend"]


class _AttachmentRequired(TypedDict):
    filename: str
    # The bytes; a text is base64
    content: Union[bytes, str]


class Attachment(_AttachmentRequired, total=False):
    # Derived from the file name if absent
    content_type: Optional[str]
    # Embeds the file in the HTML, which refers to it as `cid:…`
    content_id: Optional[str]
    # Another form of the text, such as a meeting invitation, and no file
    alternative: bool


class ReplyTracking(TypedDict, total=False):
    # Whether answers are sent on to `reply_to`, or else to `from`
    forward: Optional[bool]


class EmailTracking(TypedDict, total=False):
    # Adds a 1×1 pixel at the end of the HTML
    opens: Optional[bool]
    # Replaces links in the HTML by redirects through this service
    clicks: Optional[bool]


_EmailMessageFrom = TypedDict("_EmailMessageFrom", {"from": str})


class _EmailMessageRequired(_EmailMessageFrom):
    # 1 to 50 addresses, `a@b.c` or `Name <a@b.c>`; a single one needs no array
    to: Union[str, List[str]]
    subject: str


class EmailMessage(_EmailMessageRequired, total=False):
    # HTML body. Without `text`, a text part is derived from it
    html: Optional[str]
    # Plain text body; recommended
    text: Optional[str]
    # Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
    # together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
    cc: Optional[Union[str, List[str]]]
    # Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and
    # `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
    bcc: Optional[Union[str, List[str]]]
    # Addresses for replies
    reply_to: Optional[Union[str, List[str]]]
    # Custom headers, except those that the service writes
    headers: Optional[Dict[str, str]]
    # Labels for filtering the logs; 1 to 64 characters each
    tags: Optional[List[str]]
    # When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z`
    scheduled_at: Optional[Union[datetime, str]]
    # Files, at most 20
    attachments: Optional[List[Attachment]]
    # Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by
    # https
    list_unsubscribe: Optional[bool]
    # Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and
    # values of at most 500. They are in the logs and the webhooks, and the logs find them with
    # `metadata.<name>=<value>`
    metadata: Optional[Dict[str, str]]
    # Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one
    # recipient, instead of 422 `all_recipients_suppressed`
    accept_suppressed: Optional[bool]
    # Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`.
    # `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it
    reply_tracking: Optional[ReplyTracking]
    # Whether opens and clicks are tracked; the domain's setting applies to what is left out
    tracking: Optional[EmailTracking]


class Acknowledgement(TypedDict):
    id: str
    status: Literal["queued"]
    created_at: str


class ErrorDetail(TypedDict):
    # The field, such as `to[3]` or `headers.X-Id`; empty for the body as a whole
    path: str
    # The error, worded to continue after the field's name
    message: str


class _BatchErrorRequired(TypedDict):
    # One of seven codes; tells the client how to react
    code: Literal["invalid_request", "unauthorized", "forbidden", "not_found", "unprocessable", "rate_limited", "internal_error"]
    # For people; the wording may change
    message: str
    # The specific cause; new values may appear
    reason: str
    # Also in `X-Request-Id`; include it in support requests
    request_id: str
    # All violations, not only the first, up to 100; empty if no field is at fault
    details: List[ErrorDetail]


class BatchError(_BatchErrorRequired, total=False):
    # Path of the page about this reason, at the address of the service
    docs: str


class BatchResult(TypedDict):
    index: int
    id: Optional[str]
    status: Optional[Literal["queued"]]
    created_at: Optional[str]
    error: Optional[BatchError]


class BatchAnswer(TypedDict):
    object: Literal["batch"]
    data: List[BatchResult]


class UsedTemplate(TypedDict):
    id: str
    version: int
    locale: Optional[str]


class AppliedTracking(TypedDict):
    """Whether opens and clicks are tracked, as decided at acceptance."""

    opens: bool
    clicks: bool


class EmailTrouble(TypedDict):
    recipient: str
    status: EmailStatus
    category: Optional[str]
    code: Optional[int]
    enhanced_code: Optional[str]
    message: Optional[str]


class RecipientCounts(TypedDict, total=False):
    """Number of recipients per status; `status` is derived from them."""

    queued: int
    deferred: int
    sent: int
    delivered: int
    bounced: int
    failed: int
    suppressed: int
    canceled: int
    complained: int


class SmtpAnswer(TypedDict):
    code: Optional[int]
    enhanced_code: Optional[str]
    response: Optional[str]
    mx: Optional[str]
    tls: Optional[str]
    duration_ms: Optional[int]
    category: Optional[str]


class EmailRecipient(TypedDict):
    address: str
    kind: Literal["to", "cc", "bcc"]
    status: EmailStatus
    attempts: int
    last_event_at: str
    suppression: Optional[SuppressionReason]
    smtp: Optional[SmtpAnswer]


_EmailLogFrom = TypedDict("_EmailLogFrom", {"from": str})


class EmailLog(_EmailLogFrom):
    object: Literal["email_log"]
    id: str
    # The Message-ID header
    message_id: str
    status: EmailStatus
    to: List[str]
    cc: List[str]
    bcc: List[str]
    reply_to: List[str]
    subject: str
    tags: List[str]
    # Pairs that the sender identifies the message by
    metadata: Dict[str, str]
    # The version and language of the template that the message was made of
    template: Optional[UsedTemplate]
    created_at: str
    updated_at: str
    scheduled_at: Optional[str]
    delivered_at: Optional[str]
    next_attempt_at: Optional[str]
    attempts: int
    # Whether opens and clicks are tracked, as decided at acceptance
    tracking: AppliedTracking
    opens: int
    clicks: int
    api_key_id: Optional[str]
    # The test clock on whose time the message lives; `null` on real time
    test_clock: Optional[str]
    domain: str
    # False for test mail, which is never sent
    livemode: bool
    size_bytes: int
    # The error of the first recipient that has one
    error: Optional[EmailTrouble]
    # Number of events in its stream
    version: int
    # Number of recipients per status; `status` is derived from them
    recipient_counts: RecipientCounts
    recipients: List[EmailRecipient]


class AppliedReplyTracking(TypedDict):
    forward: bool


class ContentAttachment(TypedDict):
    filename: str
    content_type: str
    content_id: Optional[str]
    size_bytes: int


class EmailContent(TypedDict):
    html: Optional[str]
    text: Optional[str]
    attachments: List[ContentAttachment]


class EmailLogWithContent(EmailLog):
    # The received mail that was sent on as it came; it has the content
    forward_of: Optional[str]
    # How answers are found, as decided at acceptance; `null` if they go to `reply_to`
    reply_tracking: Optional[AppliedReplyTracking]
    # The message that this one is a copy of
    resend_of: Optional[str]
    # The first 100 copies that were sent to recipients whom this message did not reach
    copies: List[str]
    # `null` once it is no longer kept
    content: Optional[EmailContent]


class DnsRecord(TypedDict):
    purpose: Literal["dkim", "return_path", "spf", "dmarc", "tracking", "receiving"]
    type: Literal["TXT", "CNAME", "MX"]
    # Relative to the domain. To enter it at a DNS provider, use `zone_host` or `name`
    host: str
    # Relative to the zone of the domain, as the forms of most DNS providers expect it; `null` while the zone is
    # unknown
    zone_host: Optional[str]
    # The full name of the record
    name: str
    value: str
    # Preference of an MX record whose `value` is only the host; `null` for any other record
    priority: Optional[int]
    ttl: int
    # Only the DKIM record of the RSA key is required to send; the others are recommended
    required: bool
    status: Literal["not_checked", "verified", "missing", "mismatch", "unavailable", "conflict"]
    found: List[str]
    # The likely mistake, or the DNS error
    error: Optional[str]


class Domain(TypedDict):
    object: Literal["domain"]
    id: str
    name: str
    status: DomainStatus
    created_at: str
    verified_at: Optional[str]
    last_checked_at: Optional[str]
    next_check_at: Optional[str]
    # Name of the DNS zone that holds the domain, which a check finds; `null` while it is unknown
    zone: Optional[str]
    # Whether opens are tracked
    open_tracking: bool
    # Whether clicks are tracked
    click_tracking: bool
    # The name below the domain that tracked links use while its record is verified; `null` uses the service's own
    # name
    tracking_domain: Optional[str]
    # Whether mail to addresses of the domain is received
    receiving: bool
    records: List[DnsRecord]


class DomainChange(TypedDict, total=False):
    """Fields that are left out stay as they are."""

    # Track opens, unless the message sets this itself
    open_tracking: Optional[bool]
    # Track clicks, unless the message sets this itself
    click_tracking: Optional[bool]
    # A name below the domain that tracked links use, such as links.acme.com; `null` removes it
    tracking_domain: Optional[str]
    # Receive mail to addresses of the domain; its MX record is among the `records` then
    receiving: Optional[bool]


class DomainDeleted(TypedDict):
    object: Literal["domain"]
    id: str
    name: str
    deleted: Literal[True]


class Suppression(TypedDict):
    object: Literal["suppression"]
    id: str
    email: str
    reason: SuppressionReason
    # The message that caused it
    email_id: Optional[str]
    source: SuppressionSource
    # False for an address that test mail suppressed; live mail to it is sent
    livemode: bool
    created_at: str


class _SuppressionAdditionRequired(TypedDict):
    email: str


class SuppressionAddition(_SuppressionAdditionRequired, total=False):
    # `manual` by default
    reason: Optional[SuppressionReason]


class SuppressionBatch(TypedDict, total=False):
    # Addresses to suppress
    add: List[SuppressionAddition]
    # Addresses that can receive mail again
    remove: List[str]


class SuppressionBatchEntry(TypedDict):
    # Position in the request, from 0
    index: int
    email: str
    # `unchanged`: it was suppressed already, or was not; `rejected`: it is not an address
    status: Literal["added", "removed", "unchanged", "rejected"]
    # Why it was rejected or left unchanged
    message: Optional[str]


class SuppressionBatchAnswer(TypedDict):
    object: Literal["suppression_batch"]
    added: int
    removed: int
    unchanged: int
    rejected: int
    # One entry for each address, in the order of the request
    data: List[SuppressionBatchEntry]


class SuppressionRemoved(TypedDict):
    object: Literal["suppression"]
    id: str
    email: str
    deleted: Literal[True]


class Actor(TypedDict):
    type: Literal["api_key", "user", "operator", "system"]
    id: Optional[str]


class _EventRequired(TypedDict):
    object: Literal["event"]
    id: str
    # New types may appear; ignore those that you do not know
    type: str
    # Kind of the object
    stream: str
    # Id of the object, or the address of a suppression
    stream_id: str
    # Number of the event in the object's history, from 1
    version: int
    position: str
    # False for an event of test mail
    livemode: bool
    occurred_at: str
    actor: Actor
    request_id: Optional[str]
    data: Dict[str, Any]


class Event(_EventRequired, total=False):
    # Only with `include=webhook_payload`: the body of a webhook call for this event, in Waybill's own format;
    # `null` for a type that is not sent to webhooks
    webhook_payload: Optional[Dict[str, Any]]


class EventFeed(TypedDict):
    object: Literal["list"]
    has_more: bool
    # The `after_position` of the next request; store it together with your results
    next_position: str
    data: List[Event]


_InboundEnvelopeFrom = TypedDict("_InboundEnvelopeFrom", {"from": str})


class InboundEnvelope(_InboundEnvelopeFrom):
    to: List[str]
    remote_ip: Optional[str]
    helo: Optional[str]
    tls: Optional[str]


class InboundPerson(TypedDict):
    address: str
    name: Optional[str]


class InboundSignature(TypedDict):
    domain: str
    result: Literal["pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror"]


class InboundAuthentication(TypedDict):
    spf: Literal["pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror"]
    dkim: List[InboundSignature]
    dmarc: Literal["pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror"]
    arc: Literal["pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror"]


class InboundRouteApplied(TypedDict):
    id: str
    action: Literal["webhook", "forward", "reject", "drop", "store"]
    # For a webhook `pending`, `delivered`, `failed`, or `none` if there is no webhook to call; for a forward
    # `pending`, or the worst status of its recipients, such as `delivered` or `bounced`, `removed` once its email
    # is no longer in the log, and `failed` if nothing was sent; otherwise `rejected`, `dropped` or `stored`. New
    # values may appear
    result: str
    # The email that a forward is
    email_id: Optional[str]
    # Why a forward did not go to all of its addresses: `loop`, `automatic`, or the reason for which the email was
    # refused
    reason: Optional[str]


class InboundForwarded(TypedDict):
    # `pending`, the worst status of its recipients, or `removed` once its email is no longer in the log
    result: str
    # The email that a forward is
    email_id: Optional[str]
    # Why a forward did not go to all of its addresses: `loop`, `automatic`, or the reason for which the email was
    # refused
    reason: Optional[str]


class InboundAttachment(TypedDict):
    id: str
    filename: str
    content_type: str
    size_bytes: int
    content_id: Optional[str]
    disposition: Literal["attachment", "inline"]
    # Downloads the file without a key, until `expires_at`
    url: str
    expires_at: str


_InboundEmailFrom = TypedDict("_InboundEmailFrom", {"from": Optional[InboundPerson]})


class InboundEmail(_InboundEmailFrom):
    object: Literal["inbound_email"]
    id: str
    # `rejected`: a route refused it while its server waited; `dropped`: a route accepted it in silence
    status: Literal["received", "dropped", "rejected"]
    # False for a mail that was only made up for a test
    livemode: bool
    created_at: str
    # The sent email that this one answers
    email_id: Optional[str]
    thread_id: str
    envelope: InboundEnvelope
    to: List[InboundPerson]
    cc: List[InboundPerson]
    reply_to: List[InboundPerson]
    subject: Optional[str]
    date: Optional[str]
    message_id: Optional[str]
    in_reply_to: Optional[str]
    references: List[str]
    # The kind of program that wrote the mail; `null` for a person
    automatic: Optional[Literal["auto_reply", "bounce", "list"]]
    domain: str
    # The text after the plus sign in the first recipient, as `42` in support+42@acme.test
    mailbox_hash: Optional[str]
    auth: InboundAuthentication
    # The finding of DMARC: it passed, it failed, or there was none
    verdict: Literal["pass", "fail", "none"]
    # The routes that applied, in order; empty if none did
    routes: List[InboundRouteApplied]
    # Emails that answer it, oldest first
    replies: List[str]
    # Forwards that no route asked for, by a request or by `reply_tracking`, oldest first
    forwards: List[InboundForwarded]
    size_bytes: int
    # False if the mail has more parts or headers than are read; `raw` has all of it
    complete: bool
    attachments: List[InboundAttachment]


class InboundHeader(TypedDict):
    name: str
    value: str


class InboundEmailWhole(InboundEmail):
    headers: List[InboundHeader]
    # The text as it was written; `null` if there is none, or the content is no longer kept
    text: Optional[str]
    # The HTML as it was written. Strangers write it: show it only in a frame without scripts
    html: Optional[str]
    # The text without what it quotes and without the signature
    stripped_text: Optional[str]


class InboundEmailDeleted(TypedDict):
    object: Literal["inbound_email"]
    id: str
    deleted: Literal[True]


_InboundTestFrom = TypedDict("_InboundTestFrom", {"from": str}, total=False)


class InboundTest(_InboundTestFrom, total=False):
    # Recipients; those of the header if only `raw` is given
    to: Union[str, List[str]]
    # Empty if absent
    subject: Optional[str]
    # The text
    text: Optional[str]
    # The HTML
    html: Optional[str]
    # Message-ID of the mail that this one answers, such as the `message_id` of an email
    in_reply_to: Optional[str]
    # Files
    attachments: Optional[List[Attachment]]
    # The bytes; a text is base64
    raw: Optional[Union[bytes, str]]


_InboundReplyFrom = TypedDict("_InboundReplyFrom", {"from": str})


class InboundReply(_InboundReplyFrom, total=False):
    # HTML body. Without `text`, a text part is derived from it
    html: Optional[str]
    # Plain text body; recommended
    text: Optional[str]
    # Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
    # together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
    cc: Optional[Union[str, List[str]]]
    # Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and
    # `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
    bcc: Optional[Union[str, List[str]]]
    # Addresses for replies
    reply_to: Optional[Union[str, List[str]]]
    # Custom headers, except those that the service writes
    headers: Optional[Dict[str, str]]
    # Labels for filtering the logs; 1 to 64 characters each
    tags: Optional[List[str]]
    # When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z`
    scheduled_at: Optional[Union[datetime, str]]
    # Files, at most 20
    attachments: Optional[List[Attachment]]
    # Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by
    # https
    list_unsubscribe: Optional[bool]
    # Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and
    # values of at most 500. They are in the logs and the webhooks, and the logs find them with
    # `metadata.<name>=<value>`
    metadata: Optional[Dict[str, str]]
    # Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one
    # recipient, instead of 422 `all_recipients_suppressed`
    accept_suppressed: Optional[bool]
    # Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`.
    # `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it
    reply_tracking: Optional[ReplyTracking]
    # Whether opens and clicks are tracked; the domain's setting applies to what is left out
    tracking: Optional[EmailTracking]


_InboundRouteMatchFrom = TypedDict("_InboundRouteMatchFrom", {"from": Optional[str]}, total=False)


class InboundRouteMatch(_InboundRouteMatchFrom, total=False):
    """Conditions that must all hold; a route without any is for every mail."""

    # A recipient of the mail: an address, `*@domain` or `name+*@domain`
    to: Optional[str]
    # Part of the subject, in any case
    subject: Optional[str]
    # The finding of DMARC about the sender
    verdict: Optional[Literal["pass", "fail", "none"]]


class _InboundRouteActionRequired(TypedDict):
    type: Literal["webhook", "forward", "reject", "drop", "store"]


class InboundRouteAction(_InboundRouteActionRequired, total=False):
    """`webhook` calls webhooks; `forward` sends the mail on as it came; `reject` refuses the mail in the session; `drop` accepts and records it, and nothing else; `store` records it without a call."""

    # The only webhook that is called; all that subscribe to `email.received` if absent
    webhook_id: Optional[str]
    # 1 to 10 addresses that the mail is sent on to
    to: List[str]
    # Text of the reply 550 to its server
    message: Optional[str]


class _InboundRouteCreationRequired(TypedDict):
    action: InboundRouteAction


class InboundRouteCreation(_InboundRouteCreationRequired, total=False):
    # For every mail if absent
    match: Optional[InboundRouteMatch]
    # Routes are tried in the order of their positions; after all others if absent
    position: Optional[int]
    # `true` by default
    enabled: Optional[bool]
    # Whether no later route is tried once this one applied; `false` by default
    stop: Optional[bool]


class InboundRouteChange(TypedDict, total=False):
    """Fields that are left out stay as they are; `match` and `action` are replaced as a whole."""

    # Replaces all conditions; `{}` is for every mail
    match: Optional[InboundRouteMatch]
    action: InboundRouteAction
    position: int
    enabled: bool
    stop: bool


class InboundRoute(TypedDict):
    object: Literal["inbound_route"]
    id: str
    match: InboundRouteMatch
    action: InboundRouteAction
    position: int
    enabled: bool
    stop: bool
    created_at: str
    updated_at: str


class InboundRouteDeleted(TypedDict):
    object: Literal["inbound_route"]
    id: str
    deleted: Literal[True]


_InboundRouteTrialFrom = TypedDict("_InboundRouteTrialFrom", {"from": str})


class _InboundRouteTrialRequired(_InboundRouteTrialFrom):
    to: Union[str, List[str]]


class InboundRouteTrial(_InboundRouteTrialRequired, total=False):
    # Empty if absent
    subject: Optional[str]
    # The finding of DMARC about the sender; `none` if absent
    verdict: Optional[Literal["pass", "fail", "none"]]


class TestedInboundRoute(TypedDict):
    id: str
    action: Literal["webhook", "forward", "reject", "drop", "store"]
    applies: bool
    # Why the route applies, or why it does not
    reason: str


class InboundRouteTest(TypedDict):
    object: Literal["inbound_route_test"]
    # The end that the mail would have
    status: Literal["received", "dropped", "rejected"]
    # All routes, in the order in which they are tried
    routes: List[TestedInboundRoute]


_ThreadEntryFrom = TypedDict("_ThreadEntryFrom", {"from": str})


class ThreadEntry(_ThreadEntryFrom):
    direction: Literal["sent", "received"]
    id: str
    to: List[str]
    subject: Optional[str]
    status: str
    created_at: str


class Thread(TypedDict):
    object: Literal["thread"]
    id: str
    # Oldest first; the newest 200 of a longer thread
    data: List[ThreadEntry]


class TemplateChoice(TypedDict, total=False):
    # Id of the template
    id: Optional[str]
    # Alias of the template
    alias: Optional[str]
    # A published version; the current one by default
    version: Optional[int]
    # Language of the message: `pt-BR` falls back to `pt`, then to the template's own
    locale: Optional[str]
    # Time zone of dates and times; UTC by default
    time_zone: Optional[str]
    # Checked by the template's schema
    variables: Optional[Dict[str, Any]]


_TemplatedMessageFrom = TypedDict("_TemplatedMessageFrom", {"from": Optional[str]}, total=False)


class _TemplatedMessageRequired(_TemplatedMessageFrom):
    # 1 to 50 addresses, `a@b.c` or `Name <a@b.c>`; a single one needs no array
    to: Union[str, List[str]]
    template: TemplateChoice


class TemplatedMessage(_TemplatedMessageRequired, total=False):
    # That of the template by default
    subject: Optional[str]
    # Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
    # together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
    cc: Optional[Union[str, List[str]]]
    # Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and
    # `bcc` together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
    bcc: Optional[Union[str, List[str]]]
    # Addresses for replies
    reply_to: Optional[Union[str, List[str]]]
    # Custom headers, except those that the service writes
    headers: Optional[Dict[str, str]]
    # Labels for filtering the logs; 1 to 64 characters each
    tags: Optional[List[str]]
    # When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z`
    scheduled_at: Optional[Union[datetime, str]]
    # Files, at most 20
    attachments: Optional[List[Attachment]]
    # Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by
    # https
    list_unsubscribe: Optional[bool]
    # Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and
    # values of at most 500. They are in the logs and the webhooks, and the logs find them with
    # `metadata.<name>=<value>`
    metadata: Optional[Dict[str, str]]
    # Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one
    # recipient, instead of 422 `all_recipients_suppressed`
    accept_suppressed: Optional[bool]
    # Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`.
    # `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it
    reply_tracking: Optional[ReplyTracking]
    # Whether opens and clicks are tracked; the domain's setting applies to what is left out
    tracking: Optional[EmailTracking]


class ListedTemplate(TypedDict):
    object: Literal["template"]
    id: str
    kind: TemplateKind
    alias: Optional[str]
    name: str
    description: Optional[str]
    status: Literal["draft", "published", "archived"]
    # The version that is sent
    current_version: Optional[int]
    # Number of versions
    versions: int
    # Whether the draft differs from the version that is sent; always before the first
    draft_differs: bool
    # Layouts and partials that the version that is sent uses, and that are not there: it cannot be sent
    missing_parts: List[str]
    # Languages of the draft besides its own
    languages: List[str]
    created_at: str
    updated_at: str
    # Start of the hour in which mail was last accepted by it, as far as it is counted
    used_at: Optional[str]


class TemplateWords(TypedDict):
    subject: Optional[str]
    html: Optional[str]
    text: Optional[str]
    preheader: Optional[str]


_TemplateSourceFrom = TypedDict("_TemplateSourceFrom", {"from": Optional[str]})


class _TemplateSourceRequired(_TemplateSourceFrom):
    subject: Optional[str]
    html: Optional[str]
    text: Optional[str]
    preheader: Optional[str]
    reply_to: List[str]
    # Alias of the layout around the HTML and the text
    layout: Optional[str]
    # Words in other languages; what one leaves out is `null`, and taken from the wider language
    locales: Dict[str, TemplateWords]
    # JSON Schema of the variables
    variables: Optional[Dict[str, Any]]
    number: Optional[int]
    notes: Optional[str]
    created_by: Optional[str]
    published_at: Optional[str]


class TemplateSource(_TemplateSourceRequired, total=False):
    """In the form of a version. What only a published one has (`number`, `published_at` and who) is `null`."""

    language: TemplateLanguage


class Template(ListedTemplate):
    draft: TemplateSource
    # Changes with the names and the draft; the `base` of a push
    etag: str


class NewTemplateWords(TypedDict, total=False):
    # Liquid; becomes one line
    subject: Optional[str]
    # Liquid in HTML: what variables hold is escaped for the place where they stand
    html: Optional[str]
    # Liquid; derived from the HTML if absent
    text: Optional[str]
    # Liquid; what mail programs show beside the subject
    preheader: Optional[str]


_TemplateCreationFrom = TypedDict("_TemplateCreationFrom", {"from": Optional[str]}, total=False)


class _TemplateCreationRequired(_TemplateCreationFrom):
    name: str


class TemplateCreation(_TemplateCreationRequired, total=False):
    # `template` by default
    kind: Optional[TemplateKind]
    # Name of the template in requests; unique in the account
    alias: Optional[str]
    # Purpose of the template
    description: Optional[str]
    # Liquid; becomes one line
    subject: Optional[str]
    # Liquid in HTML: what variables hold is escaped for the place where they stand
    html: Optional[str]
    # Liquid; derived from the HTML if absent
    text: Optional[str]
    # Liquid; what mail programs show beside the subject
    preheader: Optional[str]
    # Liquid by default. Words in the languages of other services are kept as they are, and translated to be
    # rendered
    language: Optional[TemplateLanguage]
    # Reply addresses of messages that name none
    reply_to: Optional[List[str]]
    # Alias of the layout around the HTML and the text
    layout: Optional[str]
    # Words in other languages, by BCP 47 tag
    locales: Optional[Dict[str, NewTemplateWords]]
    # JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without
    # it, none is checked
    variables: Optional[Dict[str, Any]]


class ChangedTemplateWords(TypedDict, total=False):
    # Liquid; becomes one line
    subject: Optional[str]
    # Liquid in HTML: what variables hold is escaped for the place where they stand
    html: Optional[str]
    # Liquid; derived from the HTML if absent
    text: Optional[str]
    # Liquid; what mail programs show beside the subject
    preheader: Optional[str]


_TemplateChangeFrom = TypedDict("_TemplateChangeFrom", {"from": Optional[str]}, total=False)


class TemplateChange(_TemplateChangeFrom, total=False):
    """Changes the draft. Fields that are left out stay as they are; `null` empties a field."""

    name: str
    alias: Optional[str]
    description: Optional[str]
    subject: Optional[str]
    html: Optional[str]
    text: Optional[str]
    preheader: Optional[str]
    language: Optional[TemplateLanguage]
    reply_to: Optional[List[str]]
    layout: Optional[str]
    locales: Optional[Dict[str, ChangedTemplateWords]]
    variables: Optional[Dict[str, Any]]
    # `updated_at` of the template as it was read; refused with `template_draft_changed` if it has changed since
    unchanged_since: Optional[str]


class TemplateArchived(TypedDict):
    object: Literal["template"]
    id: str
    archived: Literal[True]


class TemplatePublication(TypedDict, total=False):
    # Reason of the change
    notes: Optional[str]
    # Whether it is sent from now on; `true` by default
    activate: Optional[bool]
    # `updated_at` of the template as it was read; refused with `template_draft_changed` if it has changed since
    unchanged_since: Optional[str]


class ListedTemplateVersion(TypedDict):
    object: Literal["template_version"]
    template_id: str
    number: int
    notes: Optional[str]
    # The key or user that published it
    created_by: Optional[str]
    published_at: str


_TemplateVersionFrom = TypedDict("_TemplateVersionFrom", {"from": Optional[str]})


class _TemplateVersionRequired(_TemplateVersionFrom):
    subject: Optional[str]
    html: Optional[str]
    text: Optional[str]
    preheader: Optional[str]
    reply_to: List[str]
    # Alias of the layout around the HTML and the text
    layout: Optional[str]
    # Words in other languages; what one leaves out is `null`, and taken from the wider language
    locales: Dict[str, TemplateWords]
    # JSON Schema of the variables
    variables: Optional[Dict[str, Any]]


class TemplateVersion(_TemplateVersionRequired, total=False):
    language: TemplateLanguage


class TemplateDuplication(TypedDict, total=False):
    # `Copy of …` by default
    name: Optional[str]
    # None by default
    alias: Optional[str]


_TriedTemplateSourceFrom = TypedDict("_TriedTemplateSourceFrom", {"from": Optional[str]}, total=False)


class TriedTemplateSource(_TriedTemplateSourceFrom, total=False):
    # Liquid; becomes one line
    subject: Optional[str]
    # Liquid in HTML: what variables hold is escaped for the place where they stand
    html: Optional[str]
    # Liquid; derived from the HTML if absent
    text: Optional[str]
    # Liquid; what mail programs show beside the subject
    preheader: Optional[str]
    # Liquid by default. Words in the languages of other services are kept as they are, and translated to be
    # rendered
    language: Optional[TemplateLanguage]
    # Reply addresses of messages that name none
    reply_to: Optional[List[str]]
    # Alias of the layout around the HTML and the text
    layout: Optional[str]
    # Words in other languages, by BCP 47 tag
    locales: Optional[Dict[str, NewTemplateWords]]
    # JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without
    # it, none is checked
    variables: Optional[Dict[str, Any]]


class TemplateRendering(TypedDict, total=False):
    # A published version; the draft by default
    version: Optional[int]
    # A source instead of the draft, which is not stored
    draft: Optional[TriedTemplateSource]
    # Values made of the schema by default
    variables: Optional[Dict[str, Any]]
    # The template's own language by default
    locale: Optional[str]
    # UTC by default
    time_zone: Optional[str]


class TemplateWarning(TypedDict):
    path: str
    message: str


_RenderedTemplateFrom = TypedDict("_RenderedTemplateFrom", {"from": Optional[str]})


class RenderedTemplate(_RenderedTemplateFrom):
    object: Literal["rendered_template"]
    subject: Optional[str]
    html: Optional[str]
    # Derived from the HTML if the template has none
    text: Optional[str]
    # Line that mail programs show beside the subject
    preheader: Optional[str]
    # The language that was found
    locale: Optional[str]
    warnings: List[TemplateWarning]


_PushedTemplateFrom = TypedDict("_PushedTemplateFrom", {"from": Optional[str]}, total=False)


class _PushedTemplateRequired(_PushedTemplateFrom):
    alias: str
    name: str


class PushedTemplate(_PushedTemplateRequired, total=False):
    # `template` by default; that of an existing template never changes
    kind: Optional[TemplateKind]
    # Purpose of the template
    description: Optional[str]
    # Liquid; becomes one line
    subject: Optional[str]
    # Liquid in HTML: what variables hold is escaped for the place where they stand
    html: Optional[str]
    # Liquid; derived from the HTML if absent
    text: Optional[str]
    # Liquid; what mail programs show beside the subject
    preheader: Optional[str]
    # Liquid by default. Words in the languages of other services are kept as they are, and translated to be
    # rendered
    language: Optional[TemplateLanguage]
    # Reply addresses of messages that name none
    reply_to: Optional[List[str]]
    # Alias of the layout around the HTML and the text
    layout: Optional[str]
    # Words in other languages, by BCP 47 tag
    locales: Optional[Dict[str, NewTemplateWords]]
    # JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without
    # it, none is checked
    variables: Optional[Dict[str, Any]]
    # `false` leaves this one a draft when the others are published
    publish: Optional[bool]
    # `etag` of the template that the caller has read, or `none`; refused if the template is another by now
    base: Optional[str]


class _TemplatePushRequired(TypedDict):
    templates: List[PushedTemplate]


class TemplatePush(_TemplatePushRequired, total=False):
    # Whether what is sent changes too; drafts only by default
    publish: Optional[bool]
    # Whether only the answer is wanted, and nothing is to change
    dry_run: Optional[bool]
    # Reason of the change
    notes: Optional[str]


class PushedTemplateResult(TypedDict):
    alias: str
    # `null` if a dry run would create it
    id: Optional[str]
    # `published` if the draft was there before, and only its publication is new
    action: Literal["created", "changed", "published", "unchanged"]
    # Fields that differ from the former draft
    changed_fields: List[str]
    # The version that the push publishes
    version: Optional[int]
    # `etag` before the push
    base: Optional[str]
    # Changes with the names and the draft; the `base` of a push
    etag: str
    # Reasons why it cannot be pushed; in a dry run only
    problems: List[TemplateWarning]
    # Faults that its author may have overlooked
    warnings: List[TemplateWarning]


class TemplatePushAnswer(TypedDict):
    object: Literal["template_push"]
    dry_run: bool
    # In the order of the request
    templates: List[PushedTemplateResult]


_NewTemplateSourceFrom = TypedDict("_NewTemplateSourceFrom", {"from": Optional[str]}, total=False)


class NewTemplateSource(_NewTemplateSourceFrom, total=False):
    # Liquid; becomes one line
    subject: Optional[str]
    # Liquid in HTML: what variables hold is escaped for the place where they stand
    html: Optional[str]
    # Liquid; derived from the HTML if absent
    text: Optional[str]
    # Liquid; what mail programs show beside the subject
    preheader: Optional[str]
    # Liquid by default. Words in the languages of other services are kept as they are, and translated to be
    # rendered
    language: Optional[TemplateLanguage]
    # Reply addresses of messages that name none
    reply_to: Optional[List[str]]
    # Alias of the layout around the HTML and the text
    layout: Optional[str]
    # Words in other languages, by BCP 47 tag
    locales: Optional[Dict[str, NewTemplateWords]]
    # JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without
    # it, none is checked
    variables: Optional[Dict[str, Any]]


class TemplateValidation(TypedDict):
    object: Literal["template_validation"]
    valid: bool
    problems: List[TemplateWarning]
    # Faults that an author may have overlooked, such as a variable that is not in the schema
    warnings: List[TemplateWarning]
    # JSON Schema of the variables that it uses
    suggested_variables: Dict[str, Any]
    # Variables that fit the schema
    sample: Dict[str, Any]


_LogsQueryFrom = TypedDict("_LogsQueryFrom", {"from": str}, total=False)


class LogsQuery(_LogsQueryFrom, total=False):
    limit: int
    after: str
    before: str
    to: str
    # Part of the address of a recipient, in any case. `^` before it means where a word of the address begins, and
    # `$` after it where one ends: `^ana` finds ana.silva@ and not tanaka@
    recipient: str
    # Part of the subject, in any case
    subject: str
    # Emails with all of these tags
    tag: List[str]
    metadata: Dict[str, str]
    domain: str
    # One or several of queued, deferred, sent, delivered, bounced, failed, suppressed, canceled, complained,
    # scheduled, separated by commas. `scheduled` is queued with `scheduled_at` in the future
    status: Union[str, List[str]]
    # One or several of queued, deferred, sent, delivered, bounced, failed, suppressed, canceled, complained,
    # separated by commas. Emails match if any recipient has one of them, whatever the status of the email. With
    # `to`, `recipient`, `provider` or `code`, the same recipient has to match
    recipient_status: Union[str, List[str]]
    # One or several SMTP reply codes from 400 to 599, or classes of them, separated by commas. Emails match if a
    # recipient is bounced, failed or deferred and the last reply about it had one of them. With `to`, `recipient`
    # or `provider`, the same recipient has to match
    code: Union[str, List[str]]
    # One or several of gmail, outlook, yahoo, icloud, gmx, proton, orange, telekom, qq, netease, mailru, yandex,
    # comcast, separated by commas. Emails match if a recipient has a mailbox at one of these providers, by all of
    # its domains: outlook is also hotmail.com and live.com
    provider: Union[str, List[str]]
    api_key_id: str
    template: str
    created_after: Union[datetime, str]
    created_before: Union[datetime, str]
    scheduled_after: Union[datetime, str]
    scheduled_before: Union[datetime, str]
    message_id: str
    # A search as it is typed in the dashboard: `from:`, `to:`, `subject:`, `tag:`, `metadata:`, `domain:`, `is:`,
    # `anyone:`, `code:`, `provider:`, `key:`, `template:`, `since:`, `until:`, `scheduled:`, `id:`, and up to 5
    # words. Each word must be a part of the address of a recipient or of the sender, of the subject or of a tag, or
    # the id or at least its first 10 characters, in any case, or the whole value of a pair of metadata. Words in
    # double quotes are searched together. Dates without a time zone are in UTC
    q: str
    # `true` counts the emails that match, in `total`
    count: Literal["true", "false"]


class SuppressionsQuery(TypedDict, total=False):
    limit: int
    after: str
    # Part of the address, in any case
    q: str
    reason: SuppressionReason
    source: SuppressionSource
    created_after: Union[datetime, str]
    created_before: Union[datetime, str]


class EventsQuery(TypedDict, total=False):
    after_position: str
    created_after: Union[datetime, str]
    # One or several types, separated by commas
    types: Union[str, List[str]]
    # Adds the body of the webhook call to each event
    include: Literal["webhook_payload"]
    limit: int
    # How long to wait for an event if there is none, at most 20s
    wait: str


_InboundQueryFrom = TypedDict("_InboundQueryFrom", {"from": str}, total=False)


class InboundQuery(_InboundQueryFrom, total=False):
    limit: int
    after: str
    before: str
    to: str
    # Part of the subject, in any case
    subject: str
    # Up to 5 words. Each must be a part of the subject, or the name or the address of the sender or of a recipient,
    # in any case. Words in double quotes are searched together
    q: str
    domain: str
    email_id: str
    thread_id: str
    status: Literal["received", "dropped", "rejected"]
    verdict: Literal["pass", "fail", "none"]
    created_after: Union[datetime, str]
    created_before: Union[datetime, str]


class TemplatesQuery(TypedDict, total=False):
    limit: int
    after: str
    kind: TemplateKind
    status: Literal["draft", "published", "archived"]
    # Alias of a layout or partial that they use
    uses: str
    q: str


class EmailLogPage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[EmailLog]


class EventPage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[Event]


class DomainPage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[Domain]


class SuppressionPage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[Suppression]


class InboundEmailPage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[InboundEmail]


class InboundRoutePage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[InboundRoute]


class TemplatePage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[ListedTemplate]


class TemplateVersionPage(TypedDict):
    object: Literal["list"]
    has_more: bool
    next_cursor: Optional[str]
    data: List[ListedTemplateVersion]
