"""What goes wrong with the embedded PostgreSQL."""


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL could not be initialised, started or stopped; the message says why."""
