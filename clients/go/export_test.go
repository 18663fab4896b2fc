package mneme

import "time"

// SetVisibilityTimeout changes how long WaitUntilVisible waits by itself, and returns what puts it back.
func SetVisibilityTimeout(timeout time.Duration) func() {
	before := visibilityTimeout
	visibilityTimeout = timeout
	return func() { visibilityTimeout = before }
}
