package waybill

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
)

// Call is a request to an operation of the API.
type Call struct {
	// Parts fill in the path of the operation, in their order.
	Parts []string
	Query url.Values
	// Body is written as JSON; nil sends none.
	Body any
	// IdempotencyKey runs a POST at most once, however often it is sent. Defaults to a random key.
	IdempotencyKey string
}

type sender struct {
	base    string
	key     string
	retries int
	timeout time.Duration
	http    *http.Client
	writes  writePositions
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// send sends a request, repeats it if it failed for a while, and decodes the answer.
func (s *sender) send(ctx context.Context, operation string, call Call, answer any) error {
	method, template, _ := strings.Cut(operation, " ")
	parts := call.Parts
	path := placeholder.ReplaceAllStringFunc(template, func(string) string {
		if len(parts) == 0 {
			return ""
		}
		part := parts[0]
		parts = parts[1:]
		return url.PathEscape(part)
	})
	address := s.base + path
	if len(call.Query) > 0 {
		address += "?" + call.Query.Encode()
	}
	var body []byte
	if call.Body != nil {
		encoded, err := json.Marshal(call.Body)
		if err != nil {
			return err
		}
		body = encoded
	}
	begun, positions := s.writes.begin()
	header := http.Header{"Authorization": {"Bearer " + s.key}, "Accept": {"application/json"}}
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	// Makes a retry safe: the service runs requests with the same key once.
	if method == http.MethodPost {
		header.Set("Idempotency-Key", call.IdempotencyKey)
		if call.IdempotencyKey == "" {
			header.Set("Idempotency-Key", randomKey())
		}
	}
	if positions != "" {
		header.Set(positionHeader, positions)
	}
	// The `wait` of a request adds to the normal timeout.
	waits, _ := time.ParseDuration(call.Query.Get("wait"))
	for tries := 0; ; tries++ {
		failure := s.attempt(ctx, method, address, header, body, s.timeout+waits, begun, answer)
		if failure == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if tries >= s.retries || !failure.isRepeated() {
			return failure
		}
		pause := time.NewTimer(failure.pause(tries))
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
	}
}

func (s *sender) attempt(
	ctx context.Context,
	method, address string,
	header http.Header,
	body []byte,
	timeout time.Duration,
	begun int,
	answer any,
) *Error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return invalid("base_url", "is not an http or https URL")
	}
	request.Header = header.Clone()
	response, err := s.http.Do(request)
	if err != nil {
		return s.lost(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if method != http.MethodGet {
		s.writes.add(begun, response.Header.Get(positionHeader))
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return errorOf(response, text)
	}
	if err != nil {
		return s.lost(err)
	}
	if content, isContent := answer.(*[]byte); isContent {
		*content = text
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		message := s.base + " is not a Waybill API: " + err.Error()
		return &Error{Code: CodeBadAnswer, Message: message, Status: response.StatusCode, Cause: err}
	}
	return nil
}

func (s *sender) lost(cause error) *Error {
	return &Error{Code: CodeConnectionFailed, Message: fmt.Sprintf("no response from %s: %v", s.base, cause), Cause: cause}
}

// isRepeated tells whether the same request may succeed soon. Limits that last for hours or days are not waited for: a
// caller decides whether to wait so long.
func (e *Error) isRepeated() bool {
	if e.Status == http.StatusTooManyRequests {
		return e.Reason != "monthly_quota" && e.Reason != "suppression_changes"
	}
	return e.Code == CodeConnectionFailed || e.Status >= 500
}

// pause returns the time of `Retry-After`, or an exponentially growing one. Jitter keeps clients which failed together
// from repeating together.
func (e *Error) pause(tries int) time.Duration {
	if e.RetryAfter != nil {
		return *e.RetryAfter
	}
	pause := longestPause
	if tries < 7 {
		pause = firstPause << tries
	}
	return pause/2 + time.Duration(mathrand.Int63n(int64(pause/2)))
}

func errorOf(response *http.Response, text []byte) *Error {
	refused := &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id")}
	if seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 31); err == nil {
		waits := time.Duration(seconds) * time.Second
		refused.RetryAfter = &waits
	}
	var body struct{ Error BatchError }
	if err := json.Unmarshal(text, &body); err != nil || body.Error.Code == "" {
		// A proxy may answer with a page of its own.
		refused.Code, refused.Message = CodeBadAnswer, fmt.Sprintf("the service answered with HTTP %d", response.StatusCode)
		return refused
	}
	refused.Code, refused.Message, refused.Reason = body.Error.Code, body.Error.Message, body.Error.Reason
	refused.Details = body.Error.Details
	if refused.RequestID == "" {
		refused.RequestID = body.Error.RequestID
	}
	return refused
}

// randomKey returns a UUID of version 4.
func randomKey() string {
	var bytes [16]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		panic(err)
	}
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[0:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:16])
}
