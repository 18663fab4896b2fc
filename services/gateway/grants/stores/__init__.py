"""Stores of grants."""
