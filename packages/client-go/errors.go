package waybill

import (
	"fmt"
	"time"
)

// Codes of errors that do not come from the API.
const (
	CodeConnectionFailed = "connection_failed" // There was no response.
	CodeBadAnswer        = "bad_answer"        // The response was not from the API.
	CodeInvalidKey       = "invalid_key"
)

// Error is a refusal by the API, or a failure to reach it.
type Error struct {
	// Code is one of the seven codes of the API, or one of the constants above.
	Code    string
	Message string
	// Reason gives the specific cause.
	Reason string
	// Status is the HTTP status; 0 without a response.
	Status int
	// RequestID identifies the request; include it in support requests.
	RequestID string
	Details   []ErrorDetail
	// RetryAfter is the time to wait after a 429 or 503; nil if the answer has none.
	RetryAfter *time.Duration
	// Cause is the error of the connection, if there is one.
	Cause error
}

func (e *Error) Error() string { return "waybill: " + e.Message }

func (e *Error) Unwrap() error { return e.Cause }

// invalid is the refusal of a value that the client checks, in the form of the API's refusals.
func invalid(path, message string) *Error {
	return &Error{
		Code:    "invalid_request",
		Reason:  "validation_failed",
		Message: fmt.Sprintf("`%s` %s.", path, message),
		Details: []ErrorDetail{{Path: path, Message: message}},
	}
}
