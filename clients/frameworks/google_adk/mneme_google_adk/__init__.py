"""A memory service of Google's Agent Development Kit over Mneme's memory."""

from mneme_google_adk.service import MnemeMemoryService

__all__ = ["MnemeMemoryService"]
