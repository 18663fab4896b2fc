"""Starts the production engines on one machine, for development and for tests."""
