"""LangGraph's store on Mneme's documents."""

from mneme_langgraph.store import AsyncMnemeStore, MnemeStore

__all__ = ["AsyncMnemeStore", "MnemeStore"]
