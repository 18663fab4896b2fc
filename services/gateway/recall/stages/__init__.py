"""The stages of a recall that call other services, and the clock that measures all stages."""
