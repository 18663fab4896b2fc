"""Drivers of the erasure store."""
