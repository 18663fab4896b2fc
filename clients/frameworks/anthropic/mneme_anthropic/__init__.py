"""Anthropic's memory tool on Mneme's documents."""

from mneme_anthropic.tool import AsyncMnemeMemoryTool, MnemeMemoryTool

__all__ = ["AsyncMnemeMemoryTool", "MnemeMemoryTool"]
