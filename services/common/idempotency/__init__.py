"""Idempotency of writes: the first response to a request id is stored, and returned to its repeats."""
