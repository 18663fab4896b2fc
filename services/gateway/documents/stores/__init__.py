"""Drivers of the port of documents."""
