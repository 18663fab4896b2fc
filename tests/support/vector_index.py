"""Settings of the vector index for tests."""

from typing import Final

from services.episodic.config import EdgeSettings

PATIENT_INDEX: Final = EdgeSettings(search_timeout_seconds=60.0)
"""A slow disk keeps the engine for seconds: where a service would search by words, a test waits."""
