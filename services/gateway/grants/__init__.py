"""Grants: who may see memories of places that are not on their path."""
