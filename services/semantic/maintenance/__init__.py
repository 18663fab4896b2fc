"""Maintenance jobs of the semantic tier."""
