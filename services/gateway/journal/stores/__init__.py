"""Drivers of the journal."""
