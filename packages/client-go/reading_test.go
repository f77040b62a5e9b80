package waybill

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestLogOverSeveralPages(t *testing.T) {
	w := client(t, "", Options{})
	var emails []Message
	for _, tag := range []string{"a", "b", "c", "d", "e"} {
		message := email("Page " + tag)
		message.Tags = []string{"paged", "nth-" + tag}
		emails = append(emails, message)
	}
	sent := must(w.Emails.SendBatch(ctx, emails))(t).Data
	query := LogsQuery{Tag: []string{"paged"}, Limit: 2}
	newestFirst := strings.Fields(collect(t, w.Logs.All(ctx, query), idOf))
	equal(t, len(newestFirst), 5)
	forward := query
	forward.Before = newestFirst[4]
	expected := newestFirst[3] + " " + newestFirst[2] + " " + newestFirst[1] + " " + newestFirst[0]
	equal(t, collect(t, w.Logs.All(ctx, forward), idOf), expected)
	since := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	query.Status, query.CreatedAfter = []string{"queued", "delivered"}, &since
	page := must(w.Logs.List(ctx, query))(t)
	equal(t, len(page.Data), 2)
	equal(t, page.HasMore, true)
	equal(t, len(must(w.Logs.List(ctx, LogsQuery{Tag: []string{"paged", "nth-d"}}))(t).Data), 1)
	equal(t, must(w.Logs.GetAsOf(ctx, sent[0].ID, time.Now()))(t).ID, sent[0].ID)
	equal(t, must(w.Logs.Events(ctx, sent[0].ID))(t).Data[0].Type, "email.queued")
	failing := client(t, "broken/iterator", Options{Retries: -1}).Logs.All(ctx, query)
	equal(t, failing.Next(), false)
	equal(t, refused(0, failing.Err())(t).Status, 502)
}

func TestEventsAfterAPosition(t *testing.T) {
	w := client(t, "", Options{})
	first := must(w.Emails.Send(ctx, email("First event")))(t).ID
	position := must(w.Logs.Events(ctx, first))(t).Data[0].Position
	second := must(w.Emails.Send(ctx, email("Second event")))(t).ID
	streamID := func(event Event) string { return event.StreamID }
	query := EventsQuery{AfterPosition: position, Types: []string{"email.queued"}}
	equal(t, collect(t, w.Events.All(ctx, query), streamID), second)
	all := EventsQuery{AfterPosition: "0", Limit: 3}
	equal(t, strings.Contains(collect(t, w.Events.All(ctx, all), streamID), first), true)
	equal(t, len(must(w.Events.List(ctx, EventsQuery{AfterPosition: position, Limit: 1}))(t).Data), 1)
}

func TestReceivedMail(t *testing.T) {
	w := client(t, "", Options{})
	file := []byte{0, 10, 200}
	mail := InboundTest{
		From: "ana@example.org", To: []string{"in@acme.test"}, Subject: "Hello", Text: "Hi",
		Attachments: []Attachment{{Filename: "a.bin", Content: file}},
	}
	made := must(w.Inbound.Test(ctx, mail))(t)
	read := must(w.Inbound.Get(ctx, made.ID))(t)
	equal(t, read.From.Address, "ana@example.org")
	equal(t, strings.TrimSpace(read.Text), "Hi")
	equal(t, string(must(w.Inbound.Attachment(ctx, made.ID, "att_1"))(t)), string(file))
	equal(t, strings.Contains(string(must(w.Inbound.Raw(ctx, made.ID))(t)), "Subject: Hello"), true)
	equal(t, strings.Contains(string(must(w.Inbound.Receipt(ctx, made.ID))(t)), `"id":"`+made.ID+`"`), true)
	equal(t, must(w.Threads.Get(ctx, made.ThreadID))(t).Data[0].ID, made.ID)
	raw := must(w.Inbound.Test(ctx, InboundTest{Raw: []byte("From: bo@example.org\r\nTo: in@acme.test\r\n\r\nHi")}))(t)
	equal(t, must(w.Inbound.List(ctx, InboundQuery{From: "bo@example.org"}))(t).Data[0].ID, raw.ID)
	id := func(mail InboundEmail) string { return mail.ID }
	both := strings.Fields(collect(t, w.Inbound.All(ctx, InboundQuery{Limit: 1, Domain: "acme.test"}), id))
	equal(t, len(both), 2)
	equal(t, must(w.Inbound.Remove(ctx, made.ID))(t).Deleted, true)
	equal(t, refused(w.Inbound.Raw(ctx, made.ID))(t).Status, 404)
}

func TestReadsSendThePositionOfTheLastWrite(t *testing.T) {
	w := client(t, "replica/one", Options{})
	must(w.Domains.List(ctx))(t)
	must(w.Emails.Send(ctx, email("Replica")))(t)
	must(w.Domains.List(ctx))(t)
}

func TestPositionsOfConcurrentWritesAreAllKept(t *testing.T) {
	var positions writePositions
	first, _ := positions.begin()
	second, _ := positions.begin()
	positions.add(second, "pos_b")
	positions.add(first, "pos_a")
	begun, header := positions.begin()
	equal(t, header, "pos_b,pos_a")
	positions.add(begun, "")
	positions.add(begun, "pos_c")
	_, header = positions.begin()
	equal(t, header, "pos_c")
	for nth := 0; nth < 20; nth++ {
		positions.add(0, "pos_d")
	}
	_, header = positions.begin()
	equal(t, len(strings.Split(header, ",")), 16)
}

func TestOtherEndpoints(t *testing.T) {
	var account struct{ Object string }
	must(0, client(t, "", Options{}).Request(ctx, "GET /v1/account", Call{}, &account))(t)
	equal(t, account.Object, "account")
}

func TestDomains(t *testing.T) {
	w := client(t, "", Options{})
	domain := must(w.Domains.Add(ctx, "news.test"))(t)
	equal(t, len(must(w.Domains.List(ctx))(t).Data), 2)
	equal(t, must(w.Domains.Verify(ctx, "news.test"))(t).Status, DomainStatusVerified)
	changed := must(w.Domains.Update(ctx, "news.test", DomainChange{OpenTracking: Ptr(true), TrackingDomain: Ptr("")}))(t)
	equal(t, changed.OpenTracking, true)
	equal(t, changed.TrackingDomain, "")
	text := must(json.Marshal(DomainChange{ClickTracking: Ptr(false), TrackingDomain: Ptr("links.news.test")}))(t)
	equal(t, string(text), `{"click_tracking":false,"tracking_domain":"links.news.test"}`)
	text = must(json.Marshal(DomainChange{TrackingDomain: Ptr("")}))(t)
	equal(t, string(text), `{"tracking_domain":null}`)
	rotated := must(w.Domains.RotateDKIM(ctx, "news.test"))(t)
	equal(t, rotated.Records[0].Value == domain.Records[0].Value && len(rotated.Records) == len(domain.Records), false)
	equal(t, must(w.Domains.Get(ctx, domain.ID))(t).ID, domain.ID)
	equal(t, must(w.Domains.Remove(ctx, "news.test"))(t).Deleted, true)
	equal(t, refused(w.Domains.Get(ctx, "news.test"))(t).Status, 404)
}

func TestSuppressions(t *testing.T) {
	w := client(t, "", Options{})
	address := "no/reply+bo@example.org"
	added := must(w.Suppressions.Add(ctx, SuppressionAddition{Email: address, Reason: SuppressionReasonComplaint}))(t)
	equal(t, added.Reason, SuppressionReasonComplaint)
	equal(t, must(w.Suppressions.Get(ctx, address))(t).ID, added.ID)
	batch := SuppressionBatch{Add: []SuppressionAddition{{Email: "s1@example.org"}, {Email: "s2@example.org"}}}
	equal(t, must(w.Suppressions.Batch(ctx, batch))(t).Added, 2)
	emailOf := func(suppression Suppression) string { return suppression.Email }
	all := collect(t, w.Suppressions.All(ctx, SuppressionsQuery{Limit: 2}), emailOf)
	equal(t, len(strings.Fields(all)), 3)
	equal(t, must(w.Suppressions.List(ctx, SuppressionsQuery{Q: "bo@"}))(t).Data[0].Email, address)
	equal(t, must(w.Suppressions.Remove(ctx, address))(t).Deleted, true)
	equal(t, refused(w.Suppressions.Get(ctx, address))(t).Status, 404)
}

func TestWebhooks(t *testing.T) {
	var calls struct {
		Secret, Other, ID, Body, Timestamp string
		OldTimestamp                       string `json:"old_timestamp"`
		Signatures                         map[string]string
	}
	must(0, json.Unmarshal([]byte(os.Getenv("WAYBILL_TEST_WEBHOOK")), &calls))(t)
	verify := func(name, body, id, timestamp string, secrets ...string) (*WebhookEvent, error) {
		header := http.Header{}
		header.Set("webhook-id", id)
		header.Set("webhook-timestamp", timestamp)
		header.Set("webhook-signature", calls.Signatures[name])
		return VerifyWebhook([]byte(body), header, secrets...)
	}
	call := func(name string, secrets ...string) (*WebhookEvent, error) {
		return verify(name, calls.Body, calls.ID, calls.Timestamp, secrets...)
	}
	event := must(call("valid", calls.Secret))(t)
	equal(t, event.Type, "email.delivered")
	equal(t, event.Data["subject"].(string), "Grüße")
	must(call("rotated", calls.Secret))(t)
	must(call("rotated", calls.Other))(t)
	must(call("rotated", "whsec_b3RoZXI=", calls.Other))(t)

	check := func(event *WebhookEvent, err error) {
		t.Helper()
		refusal := refused(event, err)(t)
		equal(t, refusal.Code+" "+refusal.Reason, "unauthorized webhook_not_verified")
	}
	check(call("valid", calls.Other))
	check(call("valid"))
	check(call("valid", "whsec_*"))
	check(call("unsigned", calls.Secret))
	check(call("empty", ""))
	check(call("empty", "whsec_"))
	check(verify("valid", calls.Body+" ", calls.ID, calls.Timestamp, calls.Secret))
	check(verify("valid", calls.Body, "", calls.Timestamp, calls.Secret))
	check(verify("valid", calls.Body, calls.ID, "yesterday", calls.Secret))
	check(verify("old", calls.Body, calls.ID, calls.OldTimestamp, calls.Secret))
}
