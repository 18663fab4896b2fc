"""Mneme as an MCP server: a few tools, a context as resource and prompt."""
