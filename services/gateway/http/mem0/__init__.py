"""Calls of mem0's client, served by the gateway's own handlers: docs/mem0.md."""
