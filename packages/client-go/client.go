// Package waybill is a typed client for the Waybill API. It needs nothing but the standard library.
package waybill

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const defaultURL = "http://127.0.0.1:3025"

// Options of a client. The zero value takes the key and the address from the environment.
type Options struct {
	// Key defaults to WAYBILL_KEY, then to WAYBILL_API_KEY.
	Key string
	// BaseURL is the address of the service without `/v1`. Defaults to WAYBILL_URL, then to a service on this machine.
	BaseURL string
	// Retries says how often a request is repeated after a 429, a 5xx or a lost connection. Defaults to 4; a negative
	// number repeats nothing.
	Retries int
	// Timeout of each attempt. Defaults to 30 seconds.
	Timeout time.Duration
	// HTTPClient sends the requests. Its redirects are not used: another host must not get the key.
	HTTPClient *http.Client
}

// Client calls the API. It is safe for use by several goroutines.
type Client struct {
	Emails       *Emails
	Logs         *Logs
	Domains      *Domains
	Suppressions *Suppressions
	Events       *Events
	Inbound      *Inbound
	Threads      *Threads
	Templates    *Templates
	sender       *sender
}

// New returns a client. An incomplete or mistyped key is an error.
func New(options Options) (*Client, error) {
	key := firstOf(options.Key, os.Getenv("WAYBILL_KEY"), os.Getenv("WAYBILL_API_KEY"))
	if key == "" {
		return nil, &Error{Code: CodeInvalidKey, Message: "there is no API key: set WAYBILL_KEY, or give the key to the client"}
	}
	if !IsWellFormedKey(key) {
		return nil, &Error{Code: CodeInvalidKey, Message: "this is not a complete Waybill API key (wb_…)"}
	}
	base := strings.TrimRight(firstOf(options.BaseURL, os.Getenv("WAYBILL_URL"), defaultURL), "/")
	base = strings.TrimSuffix(base, "/v1")
	if parsed, err := url.Parse(base); err != nil || parsed.Host == "" || !strings.HasPrefix(parsed.Scheme, "http") {
		return nil, invalid("base_url", "is not an http or https URL")
	}
	s := &sender{base: base, key: key, retries: options.Retries, timeout: options.Timeout, http: &http.Client{}}
	if options.HTTPClient != nil {
		*s.http = *options.HTTPClient
	}
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if s.retries == 0 {
		s.retries = 4
	}
	if s.timeout == 0 {
		s.timeout = 30 * time.Second
	}
	return &Client{
		&Emails{s}, &Logs{s}, &Domains{s}, &Suppressions{s}, &Events{s}, &Inbound{&Routes{s}, s}, &Threads{s},
		&Templates{s}, s,
	}, nil
}

// Request calls any operation of the API, written as in the reference: `GET /v1/requests/{id}`. It decodes the answer as
// json.Unmarshal does.
func (c *Client) Request(ctx context.Context, operation string, call Call, answer any) error {
	return c.sender.send(ctx, operation, call, answer)
}

// WriteOption is an option of a call that changes something.
type WriteOption func(*Call)

// IdempotencyKey runs a call at most once, however often it is sent, also by another process.
func IdempotencyKey(key string) WriteOption { return func(call *Call) { call.IdempotencyKey = key } }

// Ptr returns a pointer to a value, for optional fields.
func Ptr[T any](value T) *T { return &value }

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// send sends a call and returns its answer.
func send[T any](ctx context.Context, s *sender, operation string, call Call, options ...WriteOption) (*T, error) {
	for _, option := range options {
		option(&call)
	}
	answer := new(T)
	if err := s.send(ctx, operation, call, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// queryOf returns the fields of a query. Several tags are several parameters; other lists are separated by commas. Pairs
// are parameters such as metadata.order.
func queryOf(query any) (url.Values, error) {
	text, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	values := url.Values{}
	for name, raw := range fields {
		var text string
		var list []string
		var pairs map[string]string
		switch {
		case json.Unmarshal(raw, &text) == nil:
			values.Set(name, text)
		case json.Unmarshal(raw, &list) == nil && name != "tag":
			values.Set(name, strings.Join(list, ","))
		case list != nil:
			values[name] = list
		case json.Unmarshal(raw, &pairs) == nil:
			for key, each := range pairs {
				values.Set(name+"."+key, each)
			}
		default:
			values.Set(name, string(raw))
		}
	}
	return values, nil
}

func asOf(at *time.Time) url.Values {
	if at == nil {
		return nil
	}
	return url.Values{"as_of": {at.Format(time.RFC3339Nano)}}
}
