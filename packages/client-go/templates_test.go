package waybill

import (
	"encoding/json"
	"testing"
)

func TestLifeOfATemplate(t *testing.T) {
	w := client(t, "", Options{})
	made := must(w.Templates.Create(ctx, TemplateCreation{
		Name: "Receipt", Alias: "receipt", Subject: "Hi {{ name }}", HTML: "<p>{{ name }}</p>",
		Locales: map[string]NewTemplateWords{"de": {Subject: "Hallo"}},
	}))(t)
	first := must(w.Templates.Publish(ctx, "receipt", TemplatePublication{}))(t)
	equal(t, first.Number, 1)
	templated := TemplatedMessage{
		From: "hi@acme.test", To: []string{"ana@example.org"},
		Template: TemplateChoice{Alias: "receipt", Locale: "de-AT", Variables: map[string]any{"name": "Ana"}},
	}
	batch := must(w.Emails.SendBatch(ctx, []Message{templated, email("Plain")}))(t)
	sent := must(w.Emails.Send(ctx, templated))(t)
	for _, id := range []string{sent.ID, batch.Data[0].ID} {
		equal(t, must(w.Emails.Get(ctx, id))(t).Subject, "Hallo")
	}
	equal(t, must(w.Logs.Get(ctx, sent.ID))(t).Template.ID, made.ID)

	change := TemplateChange{Subject: Ptr("Hello {{ name }}"), Locales: Ptr(map[string]ChangedTemplateWords{})}
	changed := must(w.Templates.Update(ctx, "receipt", change))(t)
	equal(t, changed.Draft.Subject, "Hello {{ name }}")
	equal(t, changed.Draft.HTML, "<p>{{ name }}</p>")
	equal(t, len(changed.Draft.Locales), 0)
	text := must(json.Marshal(TemplateChange{Alias: Ptr(""), ReplyTo: &[]string{}}))(t)
	equal(t, string(text), `{"alias":null,"reply_to":null}`)

	must(w.Templates.Publish(ctx, made.ID, TemplatePublication{Notes: "Kinder"}))(t)
	rendering := TemplateRendering{Version: Ptr(2), Variables: map[string]any{"name": "Bo"}}
	equal(t, must(w.Templates.Render(ctx, "receipt", rendering))(t).Subject, "Hello Bo")
	equal(t, must(w.Templates.Versions(ctx, "receipt"))(t).Data[1].Number, 1)
	equal(t, must(w.Templates.Version(ctx, "receipt", 2))(t).Notes, "Kinder")
	equal(t, *must(w.Templates.Rollback(ctx, "receipt", 1))(t).CurrentVersion, 1)
	equal(t, must(w.Templates.Get(ctx, "receipt"))(t).Versions, 2)
	duplicate := must(w.Templates.Duplicate(ctx, "receipt", TemplateDuplication{Alias: "copy"}))(t)
	all := w.Templates.All(ctx, TemplatesQuery{Limit: 1})
	equal(t, collect(t, all, func(each ListedTemplate) string { return each.ID }), duplicate.ID+" "+made.ID)
	equal(t, must(w.Templates.Archive(ctx, "copy"))(t).Archived, true)
	listed := must(w.Templates.List(ctx, TemplatesQuery{Q: "receipt", Kind: TemplateKindTemplate}))(t)
	equal(t, len(listed.Data), 1)

	news := PushedTemplate{Alias: "news", Name: "News", Subject: "News"}
	pushed := must(w.Templates.Push(ctx, TemplatePush{Templates: []PushedTemplate{news}, Publish: Ptr(true)}))(t)
	equal(t, pushed.Templates[0].Action, "created")
	equal(t, *pushed.Templates[0].Version, 1)
	equal(t, must(w.Templates.Validate(ctx, NewTemplateSource{Subject: "{{ name"}))(t).Valid, false)
	equal(t, refused(w.Templates.Get(ctx, "unknown"))(t).Status, 404)
}

func TestAnswerForwardAndReplay(t *testing.T) {
	// Mail that is made up by a live key is not sent on.
	creation := map[string]any{"name": "Tests", "mode": "test", "scopes": []string{"admin"}}
	var created struct{ Key string }
	must(0, client(t, "", Options{}).Request(ctx, "POST /v1/api-keys", Call{Body: creation}, &created))(t)
	w := client(t, "", Options{Key: created.Key})
	mail := InboundTest{From: "ana@example.org", To: []string{"help@acme.test"}, Subject: "Help", Text: "Hi"}
	made := must(w.Inbound.Test(ctx, mail))(t)
	answer := InboundReply{From: "help@acme.test", Text: "Gladly."}
	reply := must(w.Inbound.Reply(ctx, made.ID, answer, IdempotencyKey("answer-1")))(t)
	equal(t, must(w.Emails.Get(ctx, reply.ID))(t).Subject, "Re: Help")
	forwarded := must(w.Inbound.Forward(ctx, made.ID, []string{"bo@example.org"}))(t)
	equal(t, must(w.Emails.Get(ctx, forwarded.ID))(t).To[0], "bo@example.org")
	equal(t, must(w.Inbound.Replay(ctx, made.ID))(t).ID, made.ID)
}

func TestRoutes(t *testing.T) {
	routes := client(t, "", Options{}).Inbound.Routes
	route := must(routes.Create(ctx, InboundRouteCreation{
		Match: &InboundRouteMatch{To: "*@acme.test"}, Action: InboundRouteAction{Type: "drop"}, Stop: Ptr(true),
	}))(t)
	equal(t, must(routes.Get(ctx, route.ID))(t).Match.To, "*@acme.test")
	changed := must(routes.Update(ctx, route.ID, InboundRouteChange{
		Match: &InboundRouteMatch{}, Action: &InboundRouteAction{Type: "store"}, Position: Ptr(0),
	}))(t)
	equal(t, changed.Match.To, "")
	equal(t, changed.Position, 0)
	equal(t, changed.Stop, true)
	equal(t, len(must(routes.List(ctx))(t).Data), 1)
	trial := must(routes.Test(ctx, InboundRouteTrial{To: []string{"in@acme.test"}, From: "ana@example.org"}))(t)
	equal(t, trial.Status, "received")
	equal(t, trial.Routes[0].Applies, true)
	equal(t, must(routes.Remove(ctx, route.ID))(t).Deleted, true)
}
