"""A retriever of LangChain over Mneme's memory."""

from mneme_langchain.retriever import MnemeRetriever

__all__ = ["MnemeRetriever"]
