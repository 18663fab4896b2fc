"""A capability of Pydantic AI agents: Mneme's memory."""

from mneme_pydantic_ai.capability import MnemeMemory

__all__ = ["MnemeMemory"]
