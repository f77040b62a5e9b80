// Tests against a service that test/clients/languages.test.ts starts, through a proxy that causes faults.
package waybill

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

var ctx = context.Background()

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// refused returns the *Error of a call.
func refused[T any](_ T, err error) func(*testing.T) *Error {
	return func(t *testing.T) *Error {
		t.Helper()
		var refusal *Error
		if !errors.As(err, &refusal) {
			t.Fatalf("it was not refused: %v", err)
		}
		return refusal
	}
}

func equal[T comparable](t *testing.T, actual, expected T) {
	t.Helper()
	if actual != expected {
		t.Fatalf("it is %v, not %v", actual, expected)
	}
}

func client(t *testing.T, mode string, options Options) *Client {
	t.Helper()
	if mode != "" {
		options.BaseURL = os.Getenv("WAYBILL_TEST_PROXY") + "/" + mode
	}
	return must(New(options))(t)
}

func email(subject string) EmailMessage {
	return EmailMessage{From: "Acme <hi@acme.test>", To: []string{"ana@example.org"}, Subject: subject, Text: "Hello"}
}

func collect[T any](t *testing.T, all *Iterator[T], text func(T) string) string {
	t.Helper()
	var texts []string
	for all.Next() {
		texts = append(texts, text(all.Value()))
	}
	must(0, all.Err())(t)
	return strings.Join(texts, " ")
}

func idOf(email EmailLog) string { return email.ID }

func TestSendWithEveryKindOfField(t *testing.T) {
	w := client(t, "", Options{})
	at := time.Now().Add(time.Hour).In(time.FixedZone("", 7200))
	message := email("Every field")
	message.To = []string{"ana@example.org", "Bo <bo@example.org>"}
	message.Cc, message.HTML, message.Tags = []string{"cy@example.org"}, "<p>Grüße</p>", []string{"receipt"}
	message.Headers, message.ScheduledAt = map[string]string{"X-Order": "4711"}, &at
	message.Tracking = &EmailTracking{Opens: Ptr(false)}
	message.Attachments = []Attachment{{Filename: "a.txt", Content: []byte("Hi")}}
	answer := must(w.Emails.Send(ctx, message))(t)
	equal(t, answer.Status, "queued")
	sent := must(w.Emails.Get(ctx, answer.ID))(t)
	equal(t, strings.Join(sent.To, ", "), "ana@example.org, Bo <bo@example.org>")
	equal(t, sent.ScheduledAt.UnixMilli(), at.UnixMilli())
	equal(t, sent.Content.Attachments[0].SizeBytes, 2)
	equal(t, strings.Contains(sent.Content.HTML, "Grüße"), true)
	later := at.Add(time.Hour)
	moved := must(w.Emails.Reschedule(ctx, answer.ID, later))(t)
	equal(t, moved.ScheduledAt.UnixMilli(), later.UnixMilli())
	equal(t, must(w.Emails.Cancel(ctx, answer.ID))(t).Status, EmailStatusCanceled)
	equal(t, must(w.Emails.Resend(ctx, answer.ID))(t).ID == answer.ID, false)
	receipt := string(must(w.Emails.Receipt(ctx, answer.ID, "recipient", "subject"))(t))
	equal(t, strings.Contains(receipt, `"id":"`+answer.ID+`"`), true)
	equal(t, strings.Contains(receipt, "Every field"), false)
}

func TestBatch(t *testing.T) {
	w := client(t, "", Options{})
	batch := must(w.Emails.SendBatch(ctx, []Message{email("One"), email("Two")}))(t)
	equal(t, batch.Data[0].Status+batch.Data[1].Status, "queuedqueued")
	bad := email("Four")
	bad.To = []string{"nobody"}
	results := must(w.Emails.SendBatchPermissive(ctx, []Message{email("Three"), bad}))(t).Data
	equal(t, results[0].Status, "queued")
	equal(t, results[1].Error.Code, "invalid_request")
}

func TestOwnIdempotencyKey(t *testing.T) {
	w := client(t, "", Options{})
	first := must(w.Emails.Send(ctx, email("Once"), IdempotencyKey("order-4711")))(t)
	second := must(w.Emails.Send(ctx, email("Once"), IdempotencyKey("order-4711")))(t)
	equal(t, first.ID, second.ID)
}

func TestDroppedConnectionSendsOneMail(t *testing.T) {
	for _, fault := range []string{"cut", "torn", "frayed"} {
		answer := must(client(t, fault+"/send", Options{}).Emails.Send(ctx, email(fault)))(t)
		w := client(t, "", Options{})
		equal(t, collect(t, w.Logs.All(ctx, LogsQuery{Subject: fault}), idOf), answer.ID)
	}
}

func Test429IsRepeatedAfterRetryAfter(t *testing.T) {
	began := time.Now()
	must(client(t, "busy/send", Options{}).Emails.Send(ctx, email("busy")))(t)
	equal(t, time.Since(began) >= time.Second, true)
}

func Test503AndABrokenGatewayAreRepeated(t *testing.T) {
	must(client(t, "down/send", Options{}).Emails.Send(ctx, email("down")))(t)
	must(client(t, "gateway/list", Options{}).Domains.List(ctx))(t)
}

func TestWhatIsNotRepeated(t *testing.T) {
	quota := refused(client(t, "quota/send", Options{}).Emails.Send(ctx, email("Quota")))(t)
	equal(t, quota.Status, 429)
	equal(t, quota.Reason, "monthly_quota")
	equal(t, *quota.RetryAfter, 24*time.Hour)
	last := refused(client(t, "broken/list", Options{Retries: 1}).Logs.List(ctx, LogsQuery{}))(t)
	equal(t, last.Status, 502)
	equal(t, last.Code, CodeBadAnswer)
	moved := refused(client(t, "moved/list", Options{}).Domains.List(ctx))(t)
	equal(t, moved.Status, 307)
	equal(t, moved.Code, CodeBadAnswer)
}

func TestRefusalHasAllFields(t *testing.T) {
	w := client(t, "", Options{})
	message := email("Unknown domain")
	message.From = "hi@unknown.test"
	refusal := refused(w.Emails.Send(ctx, message))(t)
	equal(t, refusal.Status, 422)
	equal(t, refusal.Code, "unprocessable")
	equal(t, refusal.Reason, "domain_not_verified")
	equal(t, strings.HasPrefix(refusal.RequestID, "req_"), true)
	equal(t, strings.Contains(refusal.Error(), "unknown.test"), true)
	message = email("Bad")
	message.To = []string{"nobody"}
	refusal = refused(w.Emails.Send(ctx, message))(t)
	equal(t, refusal.Status, 400)
	equal(t, strings.HasPrefix(refusal.Details[0].Path, "to"), true)
	equal(t, refused(w.Logs.Get(ctx, "msg_01k00000000000000000000000"))(t).Code, "not_found")
}

func TestUnreachableAndSilentServices(t *testing.T) {
	gone := refused(must(New(Options{BaseURL: "http://127.0.0.1:9", Retries: -1}))(t).Domains.List(ctx))(t)
	equal(t, gone.Status, 0)
	equal(t, gone.Code, CodeConnectionFailed)
	silent := client(t, "silent/list", Options{Retries: -1, Timeout: 300 * time.Millisecond})
	equal(t, refused(silent.Domains.List(ctx))(t).Code, CodeConnectionFailed)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := client(t, "", Options{}).Domains.List(canceled)
	equal(t, errors.Is(err, context.Canceled), true)
}

func TestKeyAndAddress(t *testing.T) {
	key := os.Getenv("WAYBILL_KEY")
	last := "0"
	if strings.HasSuffix(key, "0") {
		last = "1"
	}
	mistyped := key[:len(key)-1] + last
	for _, each := range []string{"wb_short", mistyped} {
		equal(t, refused(New(Options{Key: each}))(t).Code, CodeInvalidKey)
	}
	equal(t, IsWellFormedKey(key), true)
	equal(t, refused(New(Options{BaseURL: "mail.example.org"}))(t).Code, "invalid_request")
	t.Setenv("WAYBILL_KEY", "")
	equal(t, refused(New(Options{}))(t).Code, CodeInvalidKey)
	t.Setenv("WAYBILL_API_KEY", key)
	must(client(t, "", Options{}).Domains.List(ctx))(t)
}
