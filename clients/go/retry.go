package mneme

import (
	"context"
	"math/rand/v2"
	"time"
)

// RetryPolicy says when a failed call is repeated: with UNAVAILABLE, and with CANCELLED by the server, within the call's
// deadline. Every write carries a request id, which makes repeats safe.
type RetryPolicy struct {
	AttemptsMax    int           // the first one included
	InitialBackoff time.Duration // upper bound of the first wait; doubles each time
	BackoffMax     time.Duration // upper bound of any wait, unless the service asks for a longer one
}

// DefaultRetry is the policy of a client that has none of its own.
var DefaultRetry = RetryPolicy{AttemptsMax: 6, InitialBackoff: 100 * time.Millisecond, BackoffMax: 2 * time.Second}

// wait waits before the next attempt and says whether there should be one.
func (p RetryPolicy) wait(ctx context.Context, failure *Error, attempt int) bool {
	if !isTransient(failure.Code) || attempt >= p.AttemptsMax || ctx.Err() != nil {
		return false
	}
	bound := min(p.BackoffMax, p.InitialBackoff<<min(attempt-1, 16))
	// Jitter keeps the clients of a restarted server from coming back all at once.
	delay := max(failure.RetryAfter, bound/2+rand.N(bound/2+1))
	if deadline, ok := ctx.Deadline(); ok && delay >= time.Until(deadline) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(delay):
		return true
	}
}
