package waybill

import (
	"context"
	"strconv"
)

// Templates manages templates of messages. A name is an id or an alias.
type Templates struct{ sender *sender }

// List returns a page of templates, newest first.
func (t *Templates) List(ctx context.Context, query TemplatesQuery) (*Page[ListedTemplate], error) {
	return list[Page[ListedTemplate]](ctx, t.sender, "GET /v1/templates", query)
}

// All iterates over all matching templates. Limit is the size of a page.
func (t *Templates) All(ctx context.Context, query TemplatesQuery) *Iterator[ListedTemplate] {
	return pagesAfter(&query.Limit, &query.After, func() (*Page[ListedTemplate], error) { return t.List(ctx, query) })
}

// Get returns a template with its draft.
func (t *Templates) Get(ctx context.Context, name string) (*Template, error) {
	return send[Template](ctx, t.sender, "GET /v1/templates/{template}", Call{Parts: []string{name}})
}

// Create makes a template, which is a draft.
func (t *Templates) Create(
	ctx context.Context, template TemplateCreation, options ...WriteOption,
) (*Template, error) {
	return send[Template](ctx, t.sender, "POST /v1/templates", Call{Body: template}, options...)
}

// Update changes the draft.
func (t *Templates) Update(ctx context.Context, name string, change TemplateChange) (*Template, error) {
	call := Call{Parts: []string{name}, Body: change}
	return send[Template](ctx, t.sender, "PATCH /v1/templates/{template}", call)
}

// MarshalJSON writes an empty text, list or map as null, which empties the field.
func (c TemplateChange) MarshalJSON() ([]byte, error) {
	type fields TemplateChange
	return withNulls(fields(c))
}

// Archive takes a template out of use.
func (t *Templates) Archive(ctx context.Context, name string) (*TemplateArchived, error) {
	return send[TemplateArchived](ctx, t.sender, "DELETE /v1/templates/{template}", Call{Parts: []string{name}})
}

// Publish makes the draft the next version, which is sent from now on.
func (t *Templates) Publish(
	ctx context.Context, name string, publication TemplatePublication, options ...WriteOption,
) (*ListedTemplateVersion, error) {
	call := Call{Parts: []string{name}, Body: publication}
	return send[ListedTemplateVersion](ctx, t.sender, "POST /v1/templates/{template}/publish", call, options...)
}

// Versions returns the versions of a template.
func (t *Templates) Versions(ctx context.Context, name string) (*Page[ListedTemplateVersion], error) {
	call := Call{Parts: []string{name}}
	return send[Page[ListedTemplateVersion]](ctx, t.sender, "GET /v1/templates/{template}/versions", call)
}

// Version returns a version with its words.
func (t *Templates) Version(ctx context.Context, name string, number int) (*TemplateVersion, error) {
	call := Call{Parts: []string{name, strconv.Itoa(number)}}
	return send[TemplateVersion](ctx, t.sender, "GET /v1/templates/{template}/versions/{number}", call)
}

// Rollback sends a former version from now on.
func (t *Templates) Rollback(
	ctx context.Context, name string, version int, options ...WriteOption,
) (*Template, error) {
	call := Call{Parts: []string{name}, Body: map[string]int{"version": version}}
	return send[Template](ctx, t.sender, "POST /v1/templates/{template}/rollback", call, options...)
}

// Duplicate makes a draft of the same words.
func (t *Templates) Duplicate(
	ctx context.Context, name string, duplication TemplateDuplication, options ...WriteOption,
) (*Template, error) {
	call := Call{Parts: []string{name}, Body: duplication}
	return send[Template](ctx, t.sender, "POST /v1/templates/{template}/duplicate", call, options...)
}

// Render returns what would be sent.
func (t *Templates) Render(ctx context.Context, name string, rendering TemplateRendering) (*RenderedTemplate, error) {
	call := Call{Parts: []string{name}, Body: rendering}
	return send[RenderedTemplate](ctx, t.sender, "POST /v1/templates/{template}/render", call)
}

// Push creates, changes and publishes templates by their aliases: all of them, or none.
func (t *Templates) Push(
	ctx context.Context, push TemplatePush, options ...WriteOption,
) (*TemplatePushAnswer, error) {
	return send[TemplatePushAnswer](ctx, t.sender, "POST /v1/templates/push", Call{Body: push}, options...)
}

// Validate returns what is wrong with a source, and the variables that it uses.
func (t *Templates) Validate(ctx context.Context, source NewTemplateSource) (*TemplateValidation, error) {
	return send[TemplateValidation](ctx, t.sender, "POST /v1/templates/validate", Call{Body: source})
}
