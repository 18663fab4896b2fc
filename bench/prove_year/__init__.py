"""A year of one user in minutes: what maintenance leaves of it."""
