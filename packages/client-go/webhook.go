package waybill

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tolerance is the maximum difference between the clocks of sender and receiver. An older call may be a replay attack.
const Tolerance = 5 * time.Minute

// WebhookEvent is the body of a webhook call.
type WebhookEvent struct {
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	APIVersion string    `json:"api_version"`
	CreatedAt  time.Time `json:"created_at"`
	// Sequence is the order of events of one object, such as an email or a domain, from 1. Nil for a test event.
	Sequence *int           `json:"sequence"`
	Data     map[string]any `json:"data"`
}

// VerifyWebhook verifies a webhook call against your secrets and returns its event.
//
// The body must be the raw body: parsing it and writing it again changes it. During a rotation, pass both secrets. The
// error is an *Error if the call is not genuine, or older than five minutes.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*WebhookEvent, error) {
	return verifyWebhookAt(time.Now(), body, header, secrets)
}

func verifyWebhookAt(now time.Time, body []byte, header http.Header, secrets []string) (*WebhookEvent, error) {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 48)
	if id == "" || err != nil {
		return nil, refuse("the webhook headers are missing")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return nil, refuse("the timestamp is too old, or a clock is wrong")
	}
	var signatures [][]byte
	for _, part := range strings.Split(header.Get("webhook-signature"), " ") {
		if signature := strings.TrimPrefix(part, "v1,"); signature != part {
			if decoded, err := base64.StdEncoding.DecodeString(signature); err == nil {
				signatures = append(signatures, decoded)
			}
		}
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		// Everybody can sign with an empty secret.
		if err != nil || len(key) == 0 {
			return nil, refuse("a secret is missing or incomplete (whsec_…)")
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		expected := mac.Sum(nil)
		for _, signature := range signatures {
			if hmac.Equal(signature, expected) {
				var event WebhookEvent
				if err := json.Unmarshal(body, &event); err != nil {
					return nil, refuse("the body is not an event")
				}
				return &event, nil
			}
		}
	}
	return nil, refuse("no signature matches your secrets")
}

func refuse(problem string) *Error {
	return &Error{Code: "unauthorized", Reason: "webhook_not_verified", Message: "Webhook refused: " + problem + "."}
}
