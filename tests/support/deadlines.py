"""Deadlines of calls in tests."""

from typing import Final

from services.common.rpc.interceptors.chain import InterceptorSettings

PATIENT: Final = InterceptorSettings(default_deadline_seconds=120.0)
"""Of a server under test, for calls without a deadline: the default is 10 seconds, and on a busy machine a first call
on Neo4j took 42."""
