package mneme

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// FieldViolation says what is wrong with one field of the request.
type FieldViolation struct {
	FieldPath   string // such as "turns[3].content"
	Description string
}

// Error is what every failed call returns: use errors.As, and branch on Reason or Code, never on Message.
type Error struct {
	Code       codes.Code
	Message    string
	Reason     string            // of mneme.errors.v1.ErrorReason without its prefix; empty when the failure is not the service's own
	Metadata   map[string]string // facts that belong to the reason, such as "limit"
	Violations []FieldViolation
	RetryAfter time.Duration // when the service asks to be called again; 0 where it does not say
	Method     string        // such as "mneme.gateway.v1.MemoryService/Recall"; empty for an item of a batch
	status     *status.Status
	cause      error // why there was no credential
}

// Error describes the failure on one line.
func (e *Error) Error() string {
	label := codeName(e.Code)
	if e.Reason != "" {
		label += "/" + e.Reason
	}
	fields := make([]string, len(e.Violations))
	for i, violation := range e.Violations {
		fields[i] = violation.FieldPath + ": " + violation.Description
	}
	text := fmt.Sprintf("%s: %s", label, e.Message)
	if len(fields) > 0 {
		text += " (" + strings.Join(fields, "; ") + ")"
	}
	return text
}

// Unwrap is what a source of tokens failed with, for errors.Is and errors.As; nil for failures of calls.
func (e *Error) Unwrap() error { return e.cause }

// Retryable says whether the same call, with the same request id, may succeed when it is repeated later.
func (e *Error) Retryable() bool {
	return isTransient(e.Code) || e.Code == codes.DeadlineExceeded || e.RetryAfter > 0
}

// CodeName is the status as gRPC writes it, such as "INVALID_ARGUMENT".
func (e *Error) CodeName() string { return codeName(e.Code) }

// GRPCStatus makes status.FromError and status.Code work with this error.
func (e *Error) GRPCStatus() *status.Status { return e.status }

// ItemError reads the error of one item of a batch or stream.
func ItemError(item *statuspb.Status) *Error { return fromStatus(status.FromProto(item), "") }

func isTransient(code codes.Code) bool { return code == codes.Unavailable || code == codes.Canceled }

func fromError(err error, method string) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	return fromStatus(status.Convert(err), strings.TrimPrefix(method, "/"))
}

func fromStatus(failed *status.Status, method string) *Error {
	e := &Error{Code: failed.Code(), Message: failed.Message(), Method: method, status: failed}
	for _, detail := range failed.Details() { // those that cannot be read are errors, and are left out
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			e.Reason, e.Metadata = detail.GetReason(), detail.GetMetadata()
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				e.Violations = append(e.Violations, FieldViolation{violation.GetField(), violation.GetDescription()})
			}
		case *errdetails.RetryInfo:
			e.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	return e
}

func codeName(code codes.Code) string {
	if code == codes.Canceled {
		return "CANCELLED" // as the protocol spells it
	}
	var name strings.Builder
	text := code.String() // such as "InvalidArgument"
	for i, letter := range text {
		if i > 0 && letter >= 'A' && letter <= 'Z' && text[i-1] >= 'a' {
			name.WriteByte('_')
		}
		name.WriteRune(letter)
	}
	return strings.ToUpper(name.String())
}
