"""A session of the OpenAI Agents SDK in Mneme's conversation log."""

from mneme_openai_agents.session import MnemeSession

__all__ = ["MnemeSession"]
