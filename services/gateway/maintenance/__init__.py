"""Maintenance of the tiers on request: jobs, runs, undo."""
