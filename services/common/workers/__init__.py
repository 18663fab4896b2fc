"""Processes of their own for work that would hold the interpreter's lock of a service."""
