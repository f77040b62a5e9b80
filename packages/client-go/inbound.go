package waybill

import "context"

// Inbound reads mail that came in.
type Inbound struct{ sender *sender }

// List returns a page of received mail, newest first.
func (i *Inbound) List(ctx context.Context, query InboundQuery) (*Page[InboundEmail], error) {
	return list[Page[InboundEmail]](ctx, i.sender, "GET /v1/inbound", query)
}

// All iterates over all matching mail. Limit is the size of a page.
func (i *Inbound) All(ctx context.Context, query InboundQuery) *Iterator[InboundEmail] {
	if query.Limit == 0 {
		query.Limit = largestPage
	}
	return &Iterator[InboundEmail]{read: func() ([]InboundEmail, bool, error) {
		page, err := i.List(ctx, query)
		if err != nil {
			return nil, false, err
		}
		query.After = page.NextCursor
		return page.Data, page.HasMore, nil
	}}
}

// Get returns a mail with its texts and headers.
func (i *Inbound) Get(ctx context.Context, id string) (*InboundEmailWhole, error) {
	return send[InboundEmailWhole](ctx, i.sender, "GET /v1/inbound/{id}", Call{Parts: []string{id}})
}

// Raw returns a mail as it came.
func (i *Inbound) Raw(ctx context.Context, id string) ([]byte, error) {
	return content(ctx, i.sender, "GET /v1/inbound/{id}/raw", id)
}

// Attachment returns the bytes of a file.
func (i *Inbound) Attachment(ctx context.Context, id, attachment string) ([]byte, error) {
	return content(ctx, i.sender, "GET /v1/inbound/{id}/attachments/{attachment}", id, attachment)
}

// Remove deletes a mail with its content.
func (i *Inbound) Remove(ctx context.Context, id string) (*InboundEmailDeleted, error) {
	return send[InboundEmailDeleted](ctx, i.sender, "DELETE /v1/inbound/{id}", Call{Parts: []string{id}})
}

// Test lets a made-up mail come in.
func (i *Inbound) Test(ctx context.Context, mail InboundTest, options ...WriteOption) (*InboundEmail, error) {
	return send[InboundEmail](ctx, i.sender, "POST /v1/test/inbound", Call{Body: mail}, options...)
}

// Threads reads conversations.
type Threads struct{ sender *sender }

// Get returns the sent and received mail of a conversation, in order.
func (t *Threads) Get(ctx context.Context, id string) (*Thread, error) {
	return send[Thread](ctx, t.sender, "GET /v1/threads/{id}", Call{Parts: []string{id}})
}

// content reads an answer that is no JSON.
func content(ctx context.Context, s *sender, operation string, parts ...string) ([]byte, error) {
	answer, err := send[[]byte](ctx, s, operation, Call{Parts: parts})
	if err != nil {
		return nil, err
	}
	return *answer, nil
}
