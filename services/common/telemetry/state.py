"""Whether this process records traces; read on every hot path, so a plain module variable."""

_is_on = False


def is_on() -> bool:
    """Whether traces are recorded."""
    return _is_on


def switch(*, on: bool) -> None:
    """Set by `configure_telemetry` and by the handle that it returns."""
    global _is_on  # noqa: PLW0603 - one tracer provider for the process, as OpenTelemetry has it
    _is_on = on
