// Code generated from the API by npm run generate. DO NOT EDIT. A test checks that it is current.

package waybill

import "time"

type EmailStatus string

const (
	EmailStatusQueued     EmailStatus = "queued"
	EmailStatusDeferred   EmailStatus = "deferred"
	EmailStatusSent       EmailStatus = "sent"
	EmailStatusDelivered  EmailStatus = "delivered"
	EmailStatusBounced    EmailStatus = "bounced"
	EmailStatusFailed     EmailStatus = "failed"
	EmailStatusSuppressed EmailStatus = "suppressed"
	EmailStatusCanceled   EmailStatus = "canceled"
	EmailStatusComplained EmailStatus = "complained"
)

type SuppressionReason string

const (
	SuppressionReasonHardBounce  SuppressionReason = "hard_bounce"
	SuppressionReasonComplaint   SuppressionReason = "complaint"
	SuppressionReasonManual      SuppressionReason = "manual"
	SuppressionReasonUnsubscribe SuppressionReason = "unsubscribe"
)

type DomainStatus string

const (
	DomainStatusPending  DomainStatus = "pending"
	DomainStatusVerified DomainStatus = "verified"
	DomainStatusDegraded DomainStatus = "degraded"
	DomainStatusFailed   DomainStatus = "failed"
)

type SuppressionSource string

const (
	SuppressionSourceEmail   SuppressionSource = "email"
	SuppressionSourceRequest SuppressionSource = "request"
)

type TemplateKind string

const (
	TemplateKindTemplate TemplateKind = "template"
	TemplateKindLayout   TemplateKind = "layout"
	TemplateKindPartial  TemplateKind = "partial"
)

type TemplateLanguage string

const (
	TemplateLanguageLiquid     TemplateLanguage = "liquid"
	TemplateLanguageHandlebars TemplateLanguage = "handlebars"
	TemplateLanguageMustachio  TemplateLanguage = "mustachio"
	TemplateLanguageResend     TemplateLanguage = "resend"
)

type Attachment struct {
	Filename string `json:"filename"`
	Content  []byte `json:"content"`
	// Derived from the file name if absent
	ContentType string `json:"content_type,omitempty"`
	// Embeds the file in the HTML, which refers to it as `cid:…`
	ContentID string `json:"content_id,omitempty"`
	// Another form of the text, such as a meeting invitation, and no file
	Alternative *bool `json:"alternative,omitempty"`
}

type ReplyTracking struct {
	// Whether answers are sent on to `reply_to`, or else to `from`
	Forward *bool `json:"forward,omitempty"`
}

type EmailTracking struct {
	// Adds a 1×1 pixel at the end of the HTML
	Opens *bool `json:"opens,omitempty"`
	// Replaces links in the HTML by redirects through this service
	Clicks *bool `json:"clicks,omitempty"`
}

type EmailMessage struct {
	// `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted
	From string `json:"from"`
	// 1 to 50 addresses, `a@b.c` or `Name <a@b.c>`; a single one needs no array
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	// HTML body. Without `text`, a text part is derived from it
	HTML string `json:"html,omitempty"`
	// Plain text body; recommended
	Text string `json:"text,omitempty"`
	// Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
	// together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
	Cc []string `json:"cc,omitempty"`
	// Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
	// together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
	Bcc []string `json:"bcc,omitempty"`
	// Addresses for replies
	ReplyTo []string `json:"reply_to,omitempty"`
	// Custom headers, except those that the service writes
	Headers map[string]string `json:"headers,omitempty"`
	// Labels for filtering the logs; 1 to 64 characters each
	Tags []string `json:"tags,omitempty"`
	// When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z`
	ScheduledAt *time.Time `json:"scheduled_at,omitempty"`
	// Files, at most 20
	Attachments []Attachment `json:"attachments,omitempty"`
	// Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by
	// https
	ListUnsubscribe *bool `json:"list_unsubscribe,omitempty"`
	// Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and
	// values of at most 500. They are in the logs and the webhooks, and the logs find them with
	// `metadata.<name>=<value>`
	Metadata map[string]string `json:"metadata,omitempty"`
	// Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one
	// recipient, instead of 422 `all_recipients_suppressed`
	AcceptSuppressed *bool `json:"accept_suppressed,omitempty"`
	// Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`.
	// `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it
	ReplyTracking *ReplyTracking `json:"reply_tracking,omitempty"`
	// Whether opens and clicks are tracked; the domain's setting applies to what is left out
	Tracking *EmailTracking `json:"tracking,omitempty"`
}

type Acknowledgement struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
}

type ErrorDetail struct {
	// The field, such as `to[3]` or `headers.X-Id`; empty for the body as a whole
	Path string `json:"path"`
	// The error, worded to continue after the field's name
	Message string `json:"message"`
}

type BatchError struct {
	// One of seven codes; tells the client how to react
	Code string `json:"code"`
	// For people; the wording may change
	Message string `json:"message"`
	// The specific cause; new values may appear
	Reason string `json:"reason"`
	// Path of the page about this reason, at the address of the service
	Docs string `json:"docs,omitempty"`
	// Also in `X-Request-Id`; include it in support requests
	RequestID string `json:"request_id"`
	// All violations, not only the first, up to 100; empty if no field is at fault
	Details []ErrorDetail `json:"details"`
}

type BatchResult struct {
	Index     int         `json:"index"`
	ID        string      `json:"id"`
	Status    string      `json:"status"`
	CreatedAt *time.Time  `json:"created_at"`
	Error     *BatchError `json:"error"`
}

type BatchAnswer struct {
	Object string        `json:"object"`
	Data   []BatchResult `json:"data"`
}

type UsedTemplate struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Locale  string `json:"locale"`
}

// AppliedTracking: whether opens and clicks are tracked, as decided at acceptance.
type AppliedTracking struct {
	Opens  bool `json:"opens"`
	Clicks bool `json:"clicks"`
}

type EmailTrouble struct {
	Recipient    string      `json:"recipient"`
	Status       EmailStatus `json:"status"`
	Category     string      `json:"category"`
	Code         *int        `json:"code"`
	EnhancedCode string      `json:"enhanced_code"`
	Message      string      `json:"message"`
}

// RecipientCounts: number of recipients per status; `status` is derived from them.
type RecipientCounts struct {
	Queued     int `json:"queued,omitempty"`
	Deferred   int `json:"deferred,omitempty"`
	Sent       int `json:"sent,omitempty"`
	Delivered  int `json:"delivered,omitempty"`
	Bounced    int `json:"bounced,omitempty"`
	Failed     int `json:"failed,omitempty"`
	Suppressed int `json:"suppressed,omitempty"`
	Canceled   int `json:"canceled,omitempty"`
	Complained int `json:"complained,omitempty"`
}

type SmtpAnswer struct {
	Code         *int   `json:"code"`
	EnhancedCode string `json:"enhanced_code"`
	Response     string `json:"response"`
	MX           string `json:"mx"`
	TLS          string `json:"tls"`
	DurationMs   *int   `json:"duration_ms"`
	Category     string `json:"category"`
}

type EmailRecipient struct {
	Address     string            `json:"address"`
	Kind        string            `json:"kind"`
	Status      EmailStatus       `json:"status"`
	Attempts    int               `json:"attempts"`
	LastEventAt time.Time         `json:"last_event_at"`
	Suppression SuppressionReason `json:"suppression"`
	SMTP        *SmtpAnswer       `json:"smtp"`
}

type EmailLog struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// The Message-ID header
	MessageID string      `json:"message_id"`
	Status    EmailStatus `json:"status"`
	From      string      `json:"from"`
	To        []string    `json:"to"`
	Cc        []string    `json:"cc"`
	Bcc       []string    `json:"bcc"`
	ReplyTo   []string    `json:"reply_to"`
	Subject   string      `json:"subject"`
	Tags      []string    `json:"tags"`
	// Pairs that the sender identifies the message by
	Metadata map[string]string `json:"metadata"`
	// The version and language of the template that the message was made of
	Template      *UsedTemplate `json:"template"`
	CreatedAt     time.Time     `json:"created_at"`
	UpdatedAt     time.Time     `json:"updated_at"`
	ScheduledAt   *time.Time    `json:"scheduled_at"`
	DeliveredAt   *time.Time    `json:"delivered_at"`
	NextAttemptAt *time.Time    `json:"next_attempt_at"`
	Attempts      int           `json:"attempts"`
	// Whether opens and clicks are tracked, as decided at acceptance
	Tracking AppliedTracking `json:"tracking"`
	Opens    int             `json:"opens"`
	Clicks   int             `json:"clicks"`
	ApiKeyID string          `json:"api_key_id"`
	// The test clock on whose time the message lives; `null` on real time
	TestClock string `json:"test_clock"`
	Domain    string `json:"domain"`
	// False for test mail, which is never sent
	Livemode  bool `json:"livemode"`
	SizeBytes int  `json:"size_bytes"`
	// The error of the first recipient that has one
	Error *EmailTrouble `json:"error"`
	// Number of events in its stream
	Version int `json:"version"`
	// Number of recipients per status; `status` is derived from them
	RecipientCounts RecipientCounts  `json:"recipient_counts"`
	Recipients      []EmailRecipient `json:"recipients"`
}

type AppliedReplyTracking struct {
	Forward bool `json:"forward"`
}

type ContentAttachment struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	ContentID   string `json:"content_id"`
	SizeBytes   int    `json:"size_bytes"`
}

type EmailContent struct {
	HTML        string              `json:"html"`
	Text        string              `json:"text"`
	Attachments []ContentAttachment `json:"attachments"`
}

type EmailLogWithContent struct {
	EmailLog
	// The received mail that was sent on as it came; it has the content
	ForwardOf string `json:"forward_of"`
	// How answers are found, as decided at acceptance; `null` if they go to `reply_to`
	ReplyTracking *AppliedReplyTracking `json:"reply_tracking"`
	// The message that this one is a copy of
	ResendOf string `json:"resend_of"`
	// The first 100 copies that were sent to recipients whom this message did not reach
	Copies []string `json:"copies"`
	// `null` once it is no longer kept
	Content *EmailContent `json:"content"`
}

type DnsRecord struct {
	Purpose string `json:"purpose"`
	Type    string `json:"type"`
	// Relative to the domain. To enter it at a DNS provider, use `zone_host` or `name`
	Host string `json:"host"`
	// Relative to the zone of the domain, as the forms of most DNS providers expect it; `null` while the zone is
	// unknown
	ZoneHost string `json:"zone_host"`
	// The full name of the record
	Name  string `json:"name"`
	Value string `json:"value"`
	// Preference of an MX record whose `value` is only the host; `null` for any other record
	Priority *int `json:"priority"`
	TTL      int  `json:"ttl"`
	// Only the DKIM record of the RSA key is required to send; the others are recommended
	Required bool     `json:"required"`
	Status   string   `json:"status"`
	Found    []string `json:"found"`
	// The likely mistake, or the DNS error
	Error string `json:"error"`
}

type Domain struct {
	Object        string       `json:"object"`
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	Status        DomainStatus `json:"status"`
	CreatedAt     time.Time    `json:"created_at"`
	VerifiedAt    *time.Time   `json:"verified_at"`
	LastCheckedAt *time.Time   `json:"last_checked_at"`
	NextCheckAt   *time.Time   `json:"next_check_at"`
	// Name of the DNS zone that holds the domain, which a check finds; `null` while it is unknown
	Zone string `json:"zone"`
	// Whether opens are tracked
	OpenTracking bool `json:"open_tracking"`
	// Whether clicks are tracked
	ClickTracking bool `json:"click_tracking"`
	// The name below the domain that tracked links use while its record is verified; `null` uses the service's own
	// name
	TrackingDomain string `json:"tracking_domain"`
	// Whether mail to addresses of the domain is received
	Receiving bool        `json:"receiving"`
	Records   []DnsRecord `json:"records"`
}

// DomainChange: fields that are left out stay as they are.
type DomainChange struct {
	// Track opens, unless the message sets this itself
	OpenTracking *bool `json:"open_tracking,omitempty"`
	// Track clicks, unless the message sets this itself
	ClickTracking *bool `json:"click_tracking,omitempty"`
	// A name below the domain that tracked links use, such as links.acme.com; `null` removes it
	TrackingDomain *string `json:"tracking_domain,omitempty"`
	// Receive mail to addresses of the domain; its MX record is among the `records` then
	Receiving *bool `json:"receiving,omitempty"`
}

type DomainDeleted struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

type Suppression struct {
	Object string            `json:"object"`
	ID     string            `json:"id"`
	Email  string            `json:"email"`
	Reason SuppressionReason `json:"reason"`
	// The message that caused it
	EmailID string            `json:"email_id"`
	Source  SuppressionSource `json:"source"`
	// False for an address that test mail suppressed; live mail to it is sent
	Livemode  bool      `json:"livemode"`
	CreatedAt time.Time `json:"created_at"`
}

type SuppressionAddition struct {
	Email string `json:"email"`
	// `manual` by default
	Reason SuppressionReason `json:"reason,omitempty"`
}

type SuppressionBatch struct {
	// Addresses to suppress
	Add []SuppressionAddition `json:"add,omitempty"`
	// Addresses that can receive mail again
	Remove []string `json:"remove,omitempty"`
}

type SuppressionBatchEntry struct {
	// Position in the request, from 0
	Index int    `json:"index"`
	Email string `json:"email"`
	// `unchanged`: it was suppressed already, or was not; `rejected`: it is not an address
	Status string `json:"status"`
	// Why it was rejected or left unchanged
	Message string `json:"message"`
}

type SuppressionBatchAnswer struct {
	Object    string `json:"object"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Unchanged int    `json:"unchanged"`
	Rejected  int    `json:"rejected"`
	// One entry for each address, in the order of the request
	Data []SuppressionBatchEntry `json:"data"`
}

type SuppressionRemoved struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Email   string `json:"email"`
	Deleted bool   `json:"deleted"`
}

type Actor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type Event struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// New types may appear; ignore those that you do not know
	Type string `json:"type"`
	// Kind of the object
	Stream string `json:"stream"`
	// Id of the object, or the address of a suppression
	StreamID string `json:"stream_id"`
	// Number of the event in the object's history, from 1
	Version  int    `json:"version"`
	Position string `json:"position"`
	// False for an event of test mail
	Livemode   bool           `json:"livemode"`
	OccurredAt time.Time      `json:"occurred_at"`
	Actor      Actor          `json:"actor"`
	RequestID  string         `json:"request_id"`
	Data       map[string]any `json:"data"`
	// Only with `include=webhook_payload`: the body of a webhook call for this event, in Waybill's own format; `null`
	// for a type that is not sent to webhooks
	WebhookPayload map[string]any `json:"webhook_payload,omitempty"`
}

type EventFeed struct {
	Object  string `json:"object"`
	HasMore bool   `json:"has_more"`
	// The `after_position` of the next request; store it together with your results
	NextPosition string  `json:"next_position"`
	Data         []Event `json:"data"`
}

type InboundEnvelope struct {
	// The return path; empty for a bounce
	From     string   `json:"from"`
	To       []string `json:"to"`
	RemoteIP string   `json:"remote_ip"`
	Helo     string   `json:"helo"`
	TLS      string   `json:"tls"`
}

type InboundPerson struct {
	Address string `json:"address"`
	Name    string `json:"name"`
}

type InboundSignature struct {
	Domain string `json:"domain"`
	Result string `json:"result"`
}

type InboundAuthentication struct {
	SPF   string             `json:"spf"`
	DKIM  []InboundSignature `json:"dkim"`
	DMARC string             `json:"dmarc"`
	Arc   string             `json:"arc"`
}

type InboundRouteApplied struct {
	ID     string `json:"id"`
	Action string `json:"action"`
	// For a webhook `pending`, `delivered`, `failed`, or `none` if there is no webhook to call; for a forward
	// `pending`, or the worst status of its recipients, such as `delivered` or `bounced`, `removed` once its email is
	// no longer in the log, and `failed` if nothing was sent; otherwise `rejected`, `dropped` or `stored`. New values
	// may appear
	Result string `json:"result"`
	// The email that a forward is
	EmailID string `json:"email_id"`
	// Why a forward did not go to all of its addresses: `loop`, `automatic`, or the reason for which the email was
	// refused
	Reason string `json:"reason"`
}

type InboundForwarded struct {
	// `pending`, the worst status of its recipients, or `removed` once its email is no longer in the log
	Result string `json:"result"`
	// The email that a forward is
	EmailID string `json:"email_id"`
	// Why a forward did not go to all of its addresses: `loop`, `automatic`, or the reason for which the email was
	// refused
	Reason string `json:"reason"`
}

type InboundAttachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	SizeBytes   int    `json:"size_bytes"`
	ContentID   string `json:"content_id"`
	Disposition string `json:"disposition"`
	// Downloads the file without a key, until `expires_at`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

type InboundEmail struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// `rejected`: a route refused it while its server waited; `dropped`: a route accepted it in silence
	Status string `json:"status"`
	// False for a mail that was only made up for a test
	Livemode  bool      `json:"livemode"`
	CreatedAt time.Time `json:"created_at"`
	// The sent email that this one answers
	EmailID    string          `json:"email_id"`
	ThreadID   string          `json:"thread_id"`
	Envelope   InboundEnvelope `json:"envelope"`
	From       *InboundPerson  `json:"from"`
	To         []InboundPerson `json:"to"`
	Cc         []InboundPerson `json:"cc"`
	ReplyTo    []InboundPerson `json:"reply_to"`
	Subject    string          `json:"subject"`
	Date       *time.Time      `json:"date"`
	MessageID  string          `json:"message_id"`
	InReplyTo  string          `json:"in_reply_to"`
	References []string        `json:"references"`
	// The kind of program that wrote the mail; `null` for a person
	Automatic string `json:"automatic"`
	Domain    string `json:"domain"`
	// The text after the plus sign in the first recipient, as `42` in support+42@acme.test
	MailboxHash string                `json:"mailbox_hash"`
	Auth        InboundAuthentication `json:"auth"`
	// The finding of DMARC: it passed, it failed, or there was none
	Verdict string `json:"verdict"`
	// The routes that applied, in order; empty if none did
	Routes []InboundRouteApplied `json:"routes"`
	// Emails that answer it, oldest first
	Replies []string `json:"replies"`
	// Forwards that no route asked for, by a request or by `reply_tracking`, oldest first
	Forwards  []InboundForwarded `json:"forwards"`
	SizeBytes int                `json:"size_bytes"`
	// False if the mail has more parts or headers than are read; `raw` has all of it
	Complete    bool                `json:"complete"`
	Attachments []InboundAttachment `json:"attachments"`
}

type InboundHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type InboundEmailWhole struct {
	InboundEmail
	Headers []InboundHeader `json:"headers"`
	// The text as it was written; `null` if there is none, or the content is no longer kept
	Text string `json:"text"`
	// The HTML as it was written. Strangers write it: show it only in a frame without scripts
	HTML string `json:"html"`
	// The text without what it quotes and without the signature
	StrippedText string `json:"stripped_text"`
}

type InboundEmailDeleted struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

type InboundTest struct {
	// `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted
	From string `json:"from,omitempty"`
	// Recipients; those of the header if only `raw` is given
	To []string `json:"to,omitempty"`
	// Empty if absent
	Subject string `json:"subject,omitempty"`
	// The text
	Text string `json:"text,omitempty"`
	// The HTML
	HTML string `json:"html,omitempty"`
	// Message-ID of the mail that this one answers, such as the `message_id` of an email
	InReplyTo string `json:"in_reply_to,omitempty"`
	// Files
	Attachments []Attachment `json:"attachments,omitempty"`
	Raw         []byte       `json:"raw,omitempty"`
}

type InboundReply struct {
	// `ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted
	From string `json:"from"`
	// HTML body. Without `text`, a text part is derived from it
	HTML string `json:"html,omitempty"`
	// Plain text body; recommended
	Text string `json:"text,omitempty"`
	// Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
	// together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
	Cc []string `json:"cc,omitempty"`
	// Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
	// together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
	Bcc []string `json:"bcc,omitempty"`
	// Addresses for replies
	ReplyTo []string `json:"reply_to,omitempty"`
	// Custom headers, except those that the service writes
	Headers map[string]string `json:"headers,omitempty"`
	// Labels for filtering the logs; 1 to 64 characters each
	Tags []string `json:"tags,omitempty"`
	// When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z`
	ScheduledAt *time.Time `json:"scheduled_at,omitempty"`
	// Files, at most 20
	Attachments []Attachment `json:"attachments,omitempty"`
	// Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by
	// https
	ListUnsubscribe *bool `json:"list_unsubscribe,omitempty"`
	// Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and
	// values of at most 500. They are in the logs and the webhooks, and the logs find them with
	// `metadata.<name>=<value>`
	Metadata map[string]string `json:"metadata,omitempty"`
	// Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one
	// recipient, instead of 422 `all_recipients_suppressed`
	AcceptSuppressed *bool `json:"accept_suppressed,omitempty"`
	// Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`.
	// `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it
	ReplyTracking *ReplyTracking `json:"reply_tracking,omitempty"`
	// Whether opens and clicks are tracked; the domain's setting applies to what is left out
	Tracking *EmailTracking `json:"tracking,omitempty"`
}

// InboundRouteMatch: conditions that must all hold; a route without any is for every mail.
type InboundRouteMatch struct {
	// A recipient of the mail: an address, `*@domain` or `name+*@domain`
	To string `json:"to,omitempty"`
	// The sender in its header: an address, `*@domain` or `name+*@domain`
	From string `json:"from,omitempty"`
	// Part of the subject, in any case
	Subject string `json:"subject,omitempty"`
	// The finding of DMARC about the sender
	Verdict string `json:"verdict,omitempty"`
}

// InboundRouteAction: `webhook` calls webhooks; `forward` sends the mail on as it came; `reject` refuses the mail
// in the session; `drop` accepts and records it, and nothing else; `store` records it without a call.
type InboundRouteAction struct {
	Type string `json:"type"`
	// The only webhook that is called; all that subscribe to `email.received` if absent
	WebhookID string `json:"webhook_id,omitempty"`
	// 1 to 10 addresses that the mail is sent on to
	To []string `json:"to,omitempty"`
	// Text of the reply 550 to its server
	Message string `json:"message,omitempty"`
}

type InboundRouteCreation struct {
	// For every mail if absent
	Match  *InboundRouteMatch `json:"match,omitempty"`
	Action InboundRouteAction `json:"action"`
	// Routes are tried in the order of their positions; after all others if absent
	Position *int `json:"position,omitempty"`
	// `true` by default
	Enabled *bool `json:"enabled,omitempty"`
	// Whether no later route is tried once this one applied; `false` by default
	Stop *bool `json:"stop,omitempty"`
}

// InboundRouteChange: fields that are left out stay as they are; `match` and `action` are replaced as a whole.
type InboundRouteChange struct {
	// Replaces all conditions; `{}` is for every mail
	Match    *InboundRouteMatch  `json:"match,omitempty"`
	Action   *InboundRouteAction `json:"action,omitempty"`
	Position *int                `json:"position,omitempty"`
	Enabled  *bool               `json:"enabled,omitempty"`
	Stop     *bool               `json:"stop,omitempty"`
}

type InboundRoute struct {
	Object    string             `json:"object"`
	ID        string             `json:"id"`
	Match     InboundRouteMatch  `json:"match"`
	Action    InboundRouteAction `json:"action"`
	Position  int                `json:"position"`
	Enabled   bool               `json:"enabled"`
	Stop      bool               `json:"stop"`
	CreatedAt time.Time          `json:"created_at"`
	UpdatedAt time.Time          `json:"updated_at"`
}

type InboundRouteDeleted struct {
	Object  string `json:"object"`
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

type InboundRouteTrial struct {
	To   []string `json:"to"`
	From string   `json:"from"`
	// Empty if absent
	Subject string `json:"subject,omitempty"`
	// The finding of DMARC about the sender; `none` if absent
	Verdict string `json:"verdict,omitempty"`
}

type TestedInboundRoute struct {
	ID      string `json:"id"`
	Action  string `json:"action"`
	Applies bool   `json:"applies"`
	// Why the route applies, or why it does not
	Reason string `json:"reason"`
}

type InboundRouteTest struct {
	Object string `json:"object"`
	// The end that the mail would have
	Status string `json:"status"`
	// All routes, in the order in which they are tried
	Routes []TestedInboundRoute `json:"routes"`
}

type ThreadEntry struct {
	Direction string    `json:"direction"`
	ID        string    `json:"id"`
	From      string    `json:"from"`
	To        []string  `json:"to"`
	Subject   string    `json:"subject"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
}

type Thread struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	// Oldest first; the newest 200 of a longer thread
	Data []ThreadEntry `json:"data"`
}

type TemplateChoice struct {
	// Id of the template
	ID string `json:"id,omitempty"`
	// Alias of the template
	Alias string `json:"alias,omitempty"`
	// A published version; the current one by default
	Version *int `json:"version,omitempty"`
	// Language of the message: `pt-BR` falls back to `pt`, then to the template's own
	Locale string `json:"locale,omitempty"`
	// Time zone of dates and times; UTC by default
	TimeZone string `json:"time_zone,omitempty"`
	// Checked by the template's schema
	Variables map[string]any `json:"variables,omitempty"`
}

type TemplatedMessage struct {
	// That of the template by default
	From string `json:"from,omitempty"`
	// 1 to 50 addresses, `a@b.c` or `Name <a@b.c>`; a single one needs no array
	To []string `json:"to"`
	// That of the template by default
	Subject string `json:"subject,omitempty"`
	// Visible to all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
	// together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
	Cc []string `json:"cc,omitempty"`
	// Hidden from all recipients. An email has at most as many recipients as the plan allows, in `to`, `cc` and `bcc`
	// together: 10 (Free), 50 (Starter), 50 (Growth), 100 (Business)
	Bcc []string `json:"bcc,omitempty"`
	// Addresses for replies
	ReplyTo []string `json:"reply_to,omitempty"`
	// Custom headers, except those that the service writes
	Headers map[string]string `json:"headers,omitempty"`
	// Labels for filtering the logs; 1 to 64 characters each
	Tags []string `json:"tags,omitempty"`
	// When to send it, at most 30 days ahead: ISO 8601 with an offset or `Z`
	ScheduledAt *time.Time `json:"scheduled_at,omitempty"`
	// Files, at most 20
	Attachments []Attachment `json:"attachments,omitempty"`
	// Adds one-click unsubscribe headers (RFC 8058) to mail with a single recipient, if the service is reachable by
	// https
	ListUnsubscribe *bool `json:"list_unsubscribe,omitempty"`
	// Pairs for identifying the email, which recipients do not get: at most 75, with names of 1 to 64 characters and
	// values of at most 500. They are in the logs and the webhooks, and the logs find them with
	// `metadata.<name>=<value>`
	Metadata map[string]string `json:"metadata,omitempty"`
	// Whether an email whose recipients are all suppressed is accepted. It is `suppressed` at once and counts as one
	// recipient, instead of 422 `all_recipients_suppressed`
	AcceptSuppressed *bool `json:"accept_suppressed,omitempty"`
	// Whether `Reply-To` is an address of the account by which an answer finds its email without `In-Reply-To`.
	// `reply_to` stays in the record; with `{"forward": true}` answers are sent on to it
	ReplyTracking *ReplyTracking `json:"reply_tracking,omitempty"`
	// Whether opens and clicks are tracked; the domain's setting applies to what is left out
	Tracking *EmailTracking `json:"tracking,omitempty"`
	Template TemplateChoice `json:"template"`
}

type ListedTemplate struct {
	Object      string       `json:"object"`
	ID          string       `json:"id"`
	Kind        TemplateKind `json:"kind"`
	Alias       string       `json:"alias"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Status      string       `json:"status"`
	// The version that is sent
	CurrentVersion *int `json:"current_version"`
	// Number of versions
	Versions int `json:"versions"`
	// Whether the draft differs from the version that is sent; always before the first
	DraftDiffers bool `json:"draft_differs"`
	// Layouts and partials that the version that is sent uses, and that are not there: it cannot be sent
	MissingParts []string `json:"missing_parts"`
	// Languages of the draft besides its own
	Languages []string  `json:"languages"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Start of the hour in which mail was last accepted by it, as far as it is counted
	UsedAt *time.Time `json:"used_at"`
}

type TemplateWords struct {
	Subject   string `json:"subject"`
	HTML      string `json:"html"`
	Text      string `json:"text"`
	Preheader string `json:"preheader"`
}

// TemplateSource: in the form of a version. What only a published one has (`number`, `published_at` and who) is
// `null`.
type TemplateSource struct {
	Subject   string           `json:"subject"`
	HTML      string           `json:"html"`
	Text      string           `json:"text"`
	Preheader string           `json:"preheader"`
	Language  TemplateLanguage `json:"language,omitempty"`
	From      string           `json:"from"`
	ReplyTo   []string         `json:"reply_to"`
	// Alias of the layout around the HTML and the text
	Layout string `json:"layout"`
	// Words in other languages; what one leaves out is `null`, and taken from the wider language
	Locales map[string]TemplateWords `json:"locales"`
	// JSON Schema of the variables
	Variables   map[string]any `json:"variables"`
	Number      *int           `json:"number"`
	Notes       string         `json:"notes"`
	CreatedBy   string         `json:"created_by"`
	PublishedAt *time.Time     `json:"published_at"`
}

type Template struct {
	ListedTemplate
	Draft TemplateSource `json:"draft"`
	// Changes with the names and the draft; the `base` of a push
	Etag string `json:"etag"`
}

type NewTemplateWords struct {
	// Liquid; becomes one line
	Subject string `json:"subject,omitempty"`
	// Liquid in HTML: what variables hold is escaped for the place where they stand
	HTML string `json:"html,omitempty"`
	// Liquid; derived from the HTML if absent
	Text string `json:"text,omitempty"`
	// Liquid; what mail programs show beside the subject
	Preheader string `json:"preheader,omitempty"`
}

type TemplateCreation struct {
	Name string `json:"name"`
	// `template` by default
	Kind TemplateKind `json:"kind,omitempty"`
	// Name of the template in requests; unique in the account
	Alias string `json:"alias,omitempty"`
	// Purpose of the template
	Description string `json:"description,omitempty"`
	// Liquid; becomes one line
	Subject string `json:"subject,omitempty"`
	// Liquid in HTML: what variables hold is escaped for the place where they stand
	HTML string `json:"html,omitempty"`
	// Liquid; derived from the HTML if absent
	Text string `json:"text,omitempty"`
	// Liquid; what mail programs show beside the subject
	Preheader string `json:"preheader,omitempty"`
	// Liquid by default. Words in the languages of other services are kept as they are, and translated to be rendered
	Language TemplateLanguage `json:"language,omitempty"`
	// Sender of messages that name none
	From string `json:"from,omitempty"`
	// Reply addresses of messages that name none
	ReplyTo []string `json:"reply_to,omitempty"`
	// Alias of the layout around the HTML and the text
	Layout string `json:"layout,omitempty"`
	// Words in other languages, by BCP 47 tag
	Locales map[string]NewTemplateWords `json:"locales,omitempty"`
	// JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without it,
	// none is checked
	Variables map[string]any `json:"variables,omitempty"`
}

type ChangedTemplateWords struct {
	// Liquid; becomes one line
	Subject string `json:"subject,omitempty"`
	// Liquid in HTML: what variables hold is escaped for the place where they stand
	HTML string `json:"html,omitempty"`
	// Liquid; derived from the HTML if absent
	Text string `json:"text,omitempty"`
	// Liquid; what mail programs show beside the subject
	Preheader string `json:"preheader,omitempty"`
}

// TemplateChange: changes the draft. Fields that are left out stay as they are; `null` empties a field.
type TemplateChange struct {
	Name        *string                          `json:"name,omitempty"`
	Alias       *string                          `json:"alias,omitempty"`
	Description *string                          `json:"description,omitempty"`
	Subject     *string                          `json:"subject,omitempty"`
	HTML        *string                          `json:"html,omitempty"`
	Text        *string                          `json:"text,omitempty"`
	Preheader   *string                          `json:"preheader,omitempty"`
	Language    *TemplateLanguage                `json:"language,omitempty"`
	From        *string                          `json:"from,omitempty"`
	ReplyTo     *[]string                        `json:"reply_to,omitempty"`
	Layout      *string                          `json:"layout,omitempty"`
	Locales     *map[string]ChangedTemplateWords `json:"locales,omitempty"`
	Variables   *map[string]any                  `json:"variables,omitempty"`
	// `updated_at` of the template as it was read; refused with `template_draft_changed` if it has changed since
	UnchangedSince *time.Time `json:"unchanged_since,omitempty"`
}

type TemplateArchived struct {
	Object   string `json:"object"`
	ID       string `json:"id"`
	Archived bool   `json:"archived"`
}

type TemplatePublication struct {
	// Reason of the change
	Notes string `json:"notes,omitempty"`
	// Whether it is sent from now on; `true` by default
	Activate *bool `json:"activate,omitempty"`
	// `updated_at` of the template as it was read; refused with `template_draft_changed` if it has changed since
	UnchangedSince *time.Time `json:"unchanged_since,omitempty"`
}

type ListedTemplateVersion struct {
	Object     string `json:"object"`
	TemplateID string `json:"template_id"`
	Number     int    `json:"number"`
	Notes      string `json:"notes"`
	// The key or user that published it
	CreatedBy   string    `json:"created_by"`
	PublishedAt time.Time `json:"published_at"`
}

type TemplateVersion struct {
	ListedTemplateVersion
	Subject   string           `json:"subject"`
	HTML      string           `json:"html"`
	Text      string           `json:"text"`
	Preheader string           `json:"preheader"`
	Language  TemplateLanguage `json:"language,omitempty"`
	From      string           `json:"from"`
	ReplyTo   []string         `json:"reply_to"`
	// Alias of the layout around the HTML and the text
	Layout string `json:"layout"`
	// Words in other languages; what one leaves out is `null`, and taken from the wider language
	Locales map[string]TemplateWords `json:"locales"`
	// JSON Schema of the variables
	Variables map[string]any `json:"variables"`
}

type TemplateDuplication struct {
	// `Copy of …` by default
	Name string `json:"name,omitempty"`
	// None by default
	Alias string `json:"alias,omitempty"`
}

type TriedTemplateSource struct {
	// Liquid; becomes one line
	Subject string `json:"subject,omitempty"`
	// Liquid in HTML: what variables hold is escaped for the place where they stand
	HTML string `json:"html,omitempty"`
	// Liquid; derived from the HTML if absent
	Text string `json:"text,omitempty"`
	// Liquid; what mail programs show beside the subject
	Preheader string `json:"preheader,omitempty"`
	// Liquid by default. Words in the languages of other services are kept as they are, and translated to be rendered
	Language TemplateLanguage `json:"language,omitempty"`
	// Sender of messages that name none
	From string `json:"from,omitempty"`
	// Reply addresses of messages that name none
	ReplyTo []string `json:"reply_to,omitempty"`
	// Alias of the layout around the HTML and the text
	Layout string `json:"layout,omitempty"`
	// Words in other languages, by BCP 47 tag
	Locales map[string]NewTemplateWords `json:"locales,omitempty"`
	// JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without it,
	// none is checked
	Variables map[string]any `json:"variables,omitempty"`
}

type TemplateRendering struct {
	// A published version; the draft by default
	Version *int `json:"version,omitempty"`
	// A source instead of the draft, which is not stored
	Draft *TriedTemplateSource `json:"draft,omitempty"`
	// Values made of the schema by default
	Variables map[string]any `json:"variables,omitempty"`
	// The template's own language by default
	Locale string `json:"locale,omitempty"`
	// UTC by default
	TimeZone string `json:"time_zone,omitempty"`
}

type TemplateWarning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

type RenderedTemplate struct {
	Object  string `json:"object"`
	Subject string `json:"subject"`
	HTML    string `json:"html"`
	// Derived from the HTML if the template has none
	Text string `json:"text"`
	// Line that mail programs show beside the subject
	Preheader string `json:"preheader"`
	// Sender of messages that name none
	From string `json:"from"`
	// The language that was found
	Locale   string            `json:"locale"`
	Warnings []TemplateWarning `json:"warnings"`
}

type PushedTemplate struct {
	Alias string `json:"alias"`
	Name  string `json:"name"`
	// `template` by default; that of an existing template never changes
	Kind TemplateKind `json:"kind,omitempty"`
	// Purpose of the template
	Description string `json:"description,omitempty"`
	// Liquid; becomes one line
	Subject string `json:"subject,omitempty"`
	// Liquid in HTML: what variables hold is escaped for the place where they stand
	HTML string `json:"html,omitempty"`
	// Liquid; derived from the HTML if absent
	Text string `json:"text,omitempty"`
	// Liquid; what mail programs show beside the subject
	Preheader string `json:"preheader,omitempty"`
	// Liquid by default. Words in the languages of other services are kept as they are, and translated to be rendered
	Language TemplateLanguage `json:"language,omitempty"`
	// Sender of messages that name none
	From string `json:"from,omitempty"`
	// Reply addresses of messages that name none
	ReplyTo []string `json:"reply_to,omitempty"`
	// Alias of the layout around the HTML and the text
	Layout string `json:"layout,omitempty"`
	// Words in other languages, by BCP 47 tag
	Locales map[string]NewTemplateWords `json:"locales,omitempty"`
	// JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without it,
	// none is checked
	Variables map[string]any `json:"variables,omitempty"`
	// `false` leaves this one a draft when the others are published
	Publish *bool `json:"publish,omitempty"`
	// `etag` of the template that the caller has read, or `none`; refused if the template is another by now
	Base string `json:"base,omitempty"`
}

type TemplatePush struct {
	Templates []PushedTemplate `json:"templates"`
	// Whether what is sent changes too; drafts only by default
	Publish *bool `json:"publish,omitempty"`
	// Whether only the answer is wanted, and nothing is to change
	DryRun *bool `json:"dry_run,omitempty"`
	// Reason of the change
	Notes string `json:"notes,omitempty"`
}

type PushedTemplateResult struct {
	Alias string `json:"alias"`
	// `null` if a dry run would create it
	ID string `json:"id"`
	// `published` if the draft was there before, and only its publication is new
	Action string `json:"action"`
	// Fields that differ from the former draft
	ChangedFields []string `json:"changed_fields"`
	// The version that the push publishes
	Version *int `json:"version"`
	// `etag` before the push
	Base string `json:"base"`
	// Changes with the names and the draft; the `base` of a push
	Etag string `json:"etag"`
	// Reasons why it cannot be pushed; in a dry run only
	Problems []TemplateWarning `json:"problems"`
	// Faults that its author may have overlooked
	Warnings []TemplateWarning `json:"warnings"`
}

type TemplatePushAnswer struct {
	Object string `json:"object"`
	DryRun bool   `json:"dry_run"`
	// In the order of the request
	Templates []PushedTemplateResult `json:"templates"`
}

type NewTemplateSource struct {
	// Liquid; becomes one line
	Subject string `json:"subject,omitempty"`
	// Liquid in HTML: what variables hold is escaped for the place where they stand
	HTML string `json:"html,omitempty"`
	// Liquid; derived from the HTML if absent
	Text string `json:"text,omitempty"`
	// Liquid; what mail programs show beside the subject
	Preheader string `json:"preheader,omitempty"`
	// Liquid by default. Words in the languages of other services are kept as they are, and translated to be rendered
	Language TemplateLanguage `json:"language,omitempty"`
	// Sender of messages that name none
	From string `json:"from,omitempty"`
	// Reply addresses of messages that name none
	ReplyTo []string `json:"reply_to,omitempty"`
	// Alias of the layout around the HTML and the text
	Layout string `json:"layout,omitempty"`
	// Words in other languages, by BCP 47 tag
	Locales map[string]NewTemplateWords `json:"locales,omitempty"`
	// JSON Schema of the variables: types, `properties`, `required`, `default`, `enum`, `format`, `items`. Without it,
	// none is checked
	Variables map[string]any `json:"variables,omitempty"`
}

type TemplateValidation struct {
	Object   string            `json:"object"`
	Valid    bool              `json:"valid"`
	Problems []TemplateWarning `json:"problems"`
	// Faults that an author may have overlooked, such as a variable that is not in the schema
	Warnings []TemplateWarning `json:"warnings"`
	// JSON Schema of the variables that it uses
	SuggestedVariables map[string]any `json:"suggested_variables"`
	// Variables that fit the schema
	Sample map[string]any `json:"sample"`
}

type LogsQuery struct {
	Limit  int    `json:"limit,omitempty"`
	After  string `json:"after,omitempty"`
	Before string `json:"before,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	// Part of the address of a recipient, in any case. `^` before it means where a word of the address begins, and `$`
	// after it where one ends: `^ana` finds ana.silva@ and not tanaka@
	Recipient string `json:"recipient,omitempty"`
	// Part of the subject, in any case
	Subject string `json:"subject,omitempty"`
	// Emails with all of these tags
	Tag      []string          `json:"tag,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Domain   string            `json:"domain,omitempty"`
	// One or several of queued, deferred, sent, delivered, bounced, failed, suppressed, canceled, complained,
	// scheduled, separated by commas. `scheduled` is queued with `scheduled_at` in the future
	Status []string `json:"status,omitempty"`
	// One or several of queued, deferred, sent, delivered, bounced, failed, suppressed, canceled, complained,
	// separated by commas. Emails match if any recipient has one of them, whatever the status of the email. With `to`,
	// `recipient`, `provider` or `code`, the same recipient has to match
	RecipientStatus []string `json:"recipient_status,omitempty"`
	// One or several SMTP reply codes from 400 to 599, or classes of them, separated by commas. Emails match if a
	// recipient is bounced, failed or deferred and the last reply about it had one of them. With `to`, `recipient` or
	// `provider`, the same recipient has to match
	Code []string `json:"code,omitempty"`
	// One or several of gmail, outlook, yahoo, icloud, gmx, proton, orange, telekom, qq, netease, mailru, yandex,
	// comcast, separated by commas. Emails match if a recipient has a mailbox at one of these providers, by all of its
	// domains: outlook is also hotmail.com and live.com
	Provider        []string   `json:"provider,omitempty"`
	ApiKeyID        string     `json:"api_key_id,omitempty"`
	Template        string     `json:"template,omitempty"`
	CreatedAfter    *time.Time `json:"created_after,omitempty"`
	CreatedBefore   *time.Time `json:"created_before,omitempty"`
	ScheduledAfter  *time.Time `json:"scheduled_after,omitempty"`
	ScheduledBefore *time.Time `json:"scheduled_before,omitempty"`
	MessageID       string     `json:"message_id,omitempty"`
	// A search as it is typed in the dashboard: `from:`, `to:`, `subject:`, `tag:`, `metadata:`, `domain:`, `is:`,
	// `anyone:`, `code:`, `provider:`, `key:`, `template:`, `since:`, `until:`, `scheduled:`, `id:`, and up to 5
	// words. Each word must be a part of the address of a recipient or of the sender, of the subject or of a tag, or
	// the id or at least its first 10 characters, in any case, or the whole value of a pair of metadata. Words in
	// double quotes are searched together. Dates without a time zone are in UTC
	Q string `json:"q,omitempty"`
	// `true` counts the emails that match, in `total`
	Count string `json:"count,omitempty"`
}

type SuppressionsQuery struct {
	Limit int    `json:"limit,omitempty"`
	After string `json:"after,omitempty"`
	// Part of the address, in any case
	Q             string            `json:"q,omitempty"`
	Reason        SuppressionReason `json:"reason,omitempty"`
	Source        SuppressionSource `json:"source,omitempty"`
	CreatedAfter  *time.Time        `json:"created_after,omitempty"`
	CreatedBefore *time.Time        `json:"created_before,omitempty"`
}

type EventsQuery struct {
	AfterPosition string     `json:"after_position,omitempty"`
	CreatedAfter  *time.Time `json:"created_after,omitempty"`
	// One or several types, separated by commas
	Types []string `json:"types,omitempty"`
	// Adds the body of the webhook call to each event
	Include string `json:"include,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	// How long to wait for an event if there is none, at most 20s
	Wait string `json:"wait,omitempty"`
}

type InboundQuery struct {
	Limit  int    `json:"limit,omitempty"`
	After  string `json:"after,omitempty"`
	Before string `json:"before,omitempty"`
	To     string `json:"to,omitempty"`
	From   string `json:"from,omitempty"`
	// Part of the subject, in any case
	Subject string `json:"subject,omitempty"`
	// Up to 5 words. Each must be a part of the subject, or the name or the address of the sender or of a recipient,
	// in any case. Words in double quotes are searched together
	Q             string     `json:"q,omitempty"`
	Domain        string     `json:"domain,omitempty"`
	EmailID       string     `json:"email_id,omitempty"`
	ThreadID      string     `json:"thread_id,omitempty"`
	Status        string     `json:"status,omitempty"`
	Verdict       string     `json:"verdict,omitempty"`
	CreatedAfter  *time.Time `json:"created_after,omitempty"`
	CreatedBefore *time.Time `json:"created_before,omitempty"`
}

type TemplatesQuery struct {
	Limit  int          `json:"limit,omitempty"`
	After  string       `json:"after,omitempty"`
	Kind   TemplateKind `json:"kind,omitempty"`
	Status string       `json:"status,omitempty"`
	// Alias of a layout or partial that they use
	Uses string `json:"uses,omitempty"`
	Q    string `json:"q,omitempty"`
}
