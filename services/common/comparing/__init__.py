"""Comparing statements, in a process of its own or in a thread."""
