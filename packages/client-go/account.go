package waybill

import (
	"context"
	"encoding/json"
)

// Domains manages the domains that mail is sent from.
type Domains struct{ sender *sender }

// List returns all domains.
func (d *Domains) List(ctx context.Context) (*Page[Domain], error) {
	return send[Page[Domain]](ctx, d.sender, "GET /v1/domains", Call{})
}

// Get returns a domain by its name or id.
func (d *Domains) Get(ctx context.Context, domain string) (*Domain, error) {
	return send[Domain](ctx, d.sender, "GET /v1/domains/{domain}", Call{Parts: []string{domain}})
}

// Add adds a domain. Publish its records, then verify it.
func (d *Domains) Add(ctx context.Context, name string, options ...WriteOption) (*Domain, error) {
	body := map[string]string{"name": name}
	return send[Domain](ctx, d.sender, "POST /v1/domains", Call{Body: body}, options...)
}

// Verify checks the records of a domain.
func (d *Domains) Verify(ctx context.Context, domain string) (*Domain, error) {
	return send[Domain](ctx, d.sender, "POST /v1/domains/{domain}/verify", Call{Parts: []string{domain}})
}

// RotateDKIM makes a new DKIM key, which signs once its record is published.
func (d *Domains) RotateDKIM(ctx context.Context, domain string, options ...WriteOption) (*Domain, error) {
	call := Call{Parts: []string{domain}}
	return send[Domain](ctx, d.sender, "POST /v1/domains/{domain}/dkim/rotate", call, options...)
}

// Update turns open and click tracking on or off, or sets the tracking domain.
func (d *Domains) Update(ctx context.Context, domain string, change DomainChange) (*Domain, error) {
	call := Call{Parts: []string{domain}, Body: change}
	return send[Domain](ctx, d.sender, "PATCH /v1/domains/{domain}", call)
}

// MarshalJSON writes an empty tracking domain as null, which removes it.
func (c DomainChange) MarshalJSON() ([]byte, error) {
	type fields DomainChange
	return withNulls(fields(c))
}

// withNulls writes fields that are empty, and not absent, as null.
func withNulls(change any) ([]byte, error) {
	text, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for name, value := range fields {
		if text := string(value); text == `""` || text == "[]" || text == "{}" {
			fields[name] = json.RawMessage("null")
		}
	}
	return json.Marshal(fields)
}

// Remove removes a domain. Mail that waits to be sent from it fails.
func (d *Domains) Remove(ctx context.Context, domain string) (*DomainDeleted, error) {
	return send[DomainDeleted](ctx, d.sender, "DELETE /v1/domains/{domain}", Call{Parts: []string{domain}})
}

// Suppressions manages the addresses that get no mail.
type Suppressions struct{ sender *sender }

// List returns a page of suppressions.
func (s *Suppressions) List(ctx context.Context, query SuppressionsQuery) (*Page[Suppression], error) {
	return list[Page[Suppression]](ctx, s.sender, "GET /v1/suppressions", query)
}

// All iterates over all matching suppressions. Limit is the size of a page.
func (s *Suppressions) All(ctx context.Context, query SuppressionsQuery) *Iterator[Suppression] {
	return pagesAfter(&query.Limit, &query.After, func() (*Page[Suppression], error) { return s.List(ctx, query) })
}

// Get returns the suppression of an address.
func (s *Suppressions) Get(ctx context.Context, email string) (*Suppression, error) {
	return send[Suppression](ctx, s.sender, "GET /v1/suppressions/{email}", Call{Parts: []string{email}})
}

// Add suppresses an address.
func (s *Suppressions) Add(
	ctx context.Context, suppression SuppressionAddition, options ...WriteOption,
) (*Suppression, error) {
	return send[Suppression](ctx, s.sender, "POST /v1/suppressions", Call{Body: suppression}, options...)
}

// Batch adds or removes up to 1,000 addresses. A text that is not an address is rejected alone.
func (s *Suppressions) Batch(
	ctx context.Context, batch SuppressionBatch, options ...WriteOption,
) (*SuppressionBatchAnswer, error) {
	return send[SuppressionBatchAnswer](ctx, s.sender, "POST /v1/suppressions/batch", Call{Body: batch}, options...)
}

// Remove lets an address receive mail again.
func (s *Suppressions) Remove(ctx context.Context, email string) (*SuppressionRemoved, error) {
	call := Call{Parts: []string{email}}
	return send[SuppressionRemoved](ctx, s.sender, "DELETE /v1/suppressions/{email}", call)
}

// Events reads the history of the account.
type Events struct{ sender *sender }

// List returns events in order. Continue with NextPosition; Wait waits for new ones.
func (e *Events) List(ctx context.Context, query EventsQuery) (*EventFeed, error) {
	return list[EventFeed](ctx, e.sender, "GET /v1/events", query)
}

// All iterates over all existing events after a position; "0" is the beginning.
func (e *Events) All(ctx context.Context, query EventsQuery) *Iterator[Event] {
	if query.Limit == 0 {
		query.Limit = largestFeedPage
	}
	return &Iterator[Event]{read: func() ([]Event, bool, error) {
		feed, err := e.List(ctx, query)
		if err != nil {
			return nil, false, err
		}
		query.AfterPosition, query.CreatedAfter = feed.NextPosition, nil
		return feed.Data, feed.HasMore, nil
	}}
}
