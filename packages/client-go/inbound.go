package waybill

import "context"

// Inbound reads mail that came in.
type Inbound struct {
	Routes *Routes
	sender *sender
}

// List returns a page of received mail, newest first.
func (i *Inbound) List(ctx context.Context, query InboundQuery) (*Page[InboundEmail], error) {
	return list[Page[InboundEmail]](ctx, i.sender, "GET /v1/inbound", query)
}

// All iterates over all matching mail. Limit is the size of a page.
func (i *Inbound) All(ctx context.Context, query InboundQuery) *Iterator[InboundEmail] {
	return pagesAfter(&query.Limit, &query.After, func() (*Page[InboundEmail], error) { return i.List(ctx, query) })
}

// Get returns a mail with its texts and headers.
func (i *Inbound) Get(ctx context.Context, id string) (*InboundEmailWhole, error) {
	return send[InboundEmailWhole](ctx, i.sender, "GET /v1/inbound/{id}", Call{Parts: []string{id}})
}

// Raw returns a mail as it came.
func (i *Inbound) Raw(ctx context.Context, id string) ([]byte, error) {
	return content(ctx, i.sender, "GET /v1/inbound/{id}/raw", Call{Parts: []string{id}})
}

// Attachment returns the bytes of a file.
func (i *Inbound) Attachment(ctx context.Context, id, attachment string) ([]byte, error) {
	call := Call{Parts: []string{id, attachment}}
	return content(ctx, i.sender, "GET /v1/inbound/{id}/attachments/{attachment}", call)
}

// Receipt is like Emails.Receipt, of a received mail.
func (i *Inbound) Receipt(ctx context.Context, id string, redact ...string) ([]byte, error) {
	return receipt(ctx, i.sender, "GET /v1/inbound/{id}/receipt", id, redact)
}

// Remove deletes a mail with its content.
func (i *Inbound) Remove(ctx context.Context, id string) (*InboundEmailDeleted, error) {
	return send[InboundEmailDeleted](ctx, i.sender, "DELETE /v1/inbound/{id}", Call{Parts: []string{id}})
}

// Test lets a made-up mail come in.
func (i *Inbound) Test(ctx context.Context, mail InboundTest, options ...WriteOption) (*InboundEmail, error) {
	return send[InboundEmail](ctx, i.sender, "POST /v1/test/inbound", Call{Body: mail}, options...)
}

// Replay applies the routes again as if the mail had just come, and calls the webhooks.
func (i *Inbound) Replay(ctx context.Context, id string, options ...WriteOption) (*InboundEmail, error) {
	return send[InboundEmail](ctx, i.sender, "POST /v1/inbound/{id}/replay", Call{Parts: []string{id}}, options...)
}

// Reply sends an answer, whose recipient, subject and thread follow from the mail.
func (i *Inbound) Reply(
	ctx context.Context, id string, reply InboundReply, options ...WriteOption,
) (*Acknowledgement, error) {
	call := Call{Parts: []string{id}, Body: reply}
	return send[Acknowledgement](ctx, i.sender, "POST /v1/inbound/{id}/reply", call, options...)
}

// Forward sends a received mail on as it came.
func (i *Inbound) Forward(
	ctx context.Context, id string, to []string, options ...WriteOption,
) (*Acknowledgement, error) {
	call := Call{Parts: []string{id}, Body: map[string][]string{"to": to}}
	return send[Acknowledgement](ctx, i.sender, "POST /v1/inbound/{id}/forward", call, options...)
}

// Routes manages the rules for what happens to received mail.
type Routes struct{ sender *sender }

// List returns all routes, in the order in which they are tried.
func (r *Routes) List(ctx context.Context) (*Page[InboundRoute], error) {
	return send[Page[InboundRoute]](ctx, r.sender, "GET /v1/inbound/routes", Call{})
}

// Get returns a route.
func (r *Routes) Get(ctx context.Context, id string) (*InboundRoute, error) {
	return send[InboundRoute](ctx, r.sender, "GET /v1/inbound/routes/{id}", Call{Parts: []string{id}})
}

// Create adds a route.
func (r *Routes) Create(
	ctx context.Context, route InboundRouteCreation, options ...WriteOption,
) (*InboundRoute, error) {
	return send[InboundRoute](ctx, r.sender, "POST /v1/inbound/routes", Call{Body: route}, options...)
}

// Update changes a route.
func (r *Routes) Update(ctx context.Context, id string, change InboundRouteChange) (*InboundRoute, error) {
	call := Call{Parts: []string{id}, Body: change}
	return send[InboundRoute](ctx, r.sender, "PATCH /v1/inbound/routes/{id}", call)
}

// Remove removes a route.
func (r *Routes) Remove(ctx context.Context, id string) (*InboundRouteDeleted, error) {
	return send[InboundRouteDeleted](ctx, r.sender, "DELETE /v1/inbound/routes/{id}", Call{Parts: []string{id}})
}

// Test says which routes would apply to a mail, and why.
func (r *Routes) Test(ctx context.Context, mail InboundRouteTrial) (*InboundRouteTest, error) {
	return send[InboundRouteTest](ctx, r.sender, "POST /v1/inbound/routes/test", Call{Body: mail})
}

// Threads reads conversations.
type Threads struct{ sender *sender }

// Get returns the sent and received mail of a conversation, in order.
func (t *Threads) Get(ctx context.Context, id string) (*Thread, error) {
	return send[Thread](ctx, t.sender, "GET /v1/threads/{id}", Call{Parts: []string{id}})
}

// content returns the bytes of an answer.
func content(ctx context.Context, s *sender, operation string, call Call) ([]byte, error) {
	answer, err := send[[]byte](ctx, s, operation, call)
	if err != nil {
		return nil, err
	}
	return *answer, nil
}
