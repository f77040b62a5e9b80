package waybill

import (
	"context"
	"net/url"
	"strings"
	"time"
)

// Emails sends mail.
type Emails struct{ sender *sender }

// Message is an EmailMessage, or a TemplatedMessage.
type Message interface{ isMessage() }

func (EmailMessage) isMessage()     {}
func (TemplatedMessage) isMessage() {}

// Send sends an email. An EmailMessage without HTML and Text is accepted, and arrives empty.
func (e *Emails) Send(ctx context.Context, email Message, options ...WriteOption) (*Acknowledgement, error) {
	return send[Acknowledgement](ctx, e.sender, "POST /v1/email/send", Call{Body: email}, options...)
}

// SendBatch sends up to 100 emails: all of them or, if one is refused, none.
func (e *Emails) SendBatch(ctx context.Context, emails []Message, options ...WriteOption) (*BatchAnswer, error) {
	return e.sendBatch(ctx, emails, "all_or_nothing", options)
}

// SendBatchPermissive sends up to 100 emails and accepts or refuses each separately.
func (e *Emails) SendBatchPermissive(
	ctx context.Context, emails []Message, options ...WriteOption,
) (*BatchAnswer, error) {
	return e.sendBatch(ctx, emails, "permissive", options)
}

func (e *Emails) sendBatch(
	ctx context.Context, emails []Message, mode string, options []WriteOption,
) (*BatchAnswer, error) {
	body := map[string]any{"emails": emails, "mode": mode}
	return send[BatchAnswer](ctx, e.sender, "POST /v1/email/send/batch", Call{Body: body}, options...)
}

// Get is like Logs.Get, also for a key that may only send; it sees the content of mail that it sent itself.
func (e *Emails) Get(ctx context.Context, id string) (*EmailLogWithContent, error) {
	return send[EmailLogWithContent](ctx, e.sender, "GET /v1/email/{id}", Call{Parts: []string{id}})
}

// Cancel cancels an email that is scheduled, or waits.
func (e *Emails) Cancel(ctx context.Context, id string, options ...WriteOption) (*EmailLog, error) {
	return send[EmailLog](ctx, e.sender, "POST /v1/email/{id}/cancel", Call{Parts: []string{id}}, options...)
}

// Reschedule changes when an email is sent.
func (e *Emails) Reschedule(ctx context.Context, id string, scheduledAt time.Time) (*EmailLog, error) {
	body := map[string]time.Time{"scheduled_at": scheduledAt}
	return send[EmailLog](ctx, e.sender, "PATCH /v1/email/{id}", Call{Parts: []string{id}, Body: body})
}

// Resend sends a copy of an email to the recipients that it did not reach.
func (e *Emails) Resend(ctx context.Context, id string, options ...WriteOption) (*Acknowledgement, error) {
	return send[Acknowledgement](ctx, e.sender, "POST /v1/email/{id}/resend", Call{Parts: []string{id}}, options...)
}

// Receipt returns what happened to an email as JSON with a proof that anybody can check, without the fields to redact.
func (e *Emails) Receipt(ctx context.Context, id string, redact ...string) ([]byte, error) {
	return receipt(ctx, e.sender, "GET /v1/email/{id}/receipt", id, redact)
}

func receipt(ctx context.Context, s *sender, operation, id string, redact []string) ([]byte, error) {
	call := Call{Parts: []string{id}}
	if len(redact) > 0 {
		call.Query = url.Values{"redact": {strings.Join(redact, ",")}}
	}
	return content(ctx, s, operation, call)
}

// Logs reads what happened to mail.
type Logs struct{ sender *sender }

// List returns a page of the log, newest first.
func (l *Logs) List(ctx context.Context, query LogsQuery) (*Page[EmailLog], error) {
	return list[Page[EmailLog]](ctx, l.sender, "GET /v1/email/logs", query)
}

// All iterates over all matching messages, newest first; with Before, from that message towards newer ones. Limit is the
// size of a page.
func (l *Logs) All(ctx context.Context, query LogsQuery) *Iterator[EmailLog] {
	if query.Limit == 0 {
		query.Limit = largestPage
	}
	isForward := query.Before != ""
	return &Iterator[EmailLog]{read: func() ([]EmailLog, bool, error) {
		page, err := l.List(ctx, query)
		if err != nil {
			return nil, false, err
		}
		if !isForward {
			query.After = page.NextCursor
			return page.Data, page.HasMore, nil
		}
		query.Before = page.NextCursor
		for i, j := 0, len(page.Data)-1; i < j; i, j = i+1, j-1 {
			page.Data[i], page.Data[j] = page.Data[j], page.Data[i]
		}
		return page.Data, page.HasMore, nil
	}}
}

// Get returns a message with its content, while that is kept.
func (l *Logs) Get(ctx context.Context, id string) (*EmailLogWithContent, error) {
	return l.get(ctx, id, nil)
}

// GetAsOf returns the record of a message as it was at that time.
func (l *Logs) GetAsOf(ctx context.Context, id string, at time.Time) (*EmailLogWithContent, error) {
	return l.get(ctx, id, &at)
}

func (l *Logs) get(ctx context.Context, id string, at *time.Time) (*EmailLogWithContent, error) {
	call := Call{Parts: []string{id}, Query: asOf(at)}
	return send[EmailLogWithContent](ctx, l.sender, "GET /v1/email/logs/{id}", call)
}

// Events returns the timeline: all events of a message.
func (l *Logs) Events(ctx context.Context, id string) (*Page[Event], error) {
	return send[Page[Event]](ctx, l.sender, "GET /v1/email/logs/{id}/events", Call{Parts: []string{id}})
}
