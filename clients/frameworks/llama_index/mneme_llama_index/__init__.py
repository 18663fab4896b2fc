"""A memory block of LlamaIndex over Mneme's memory."""

from mneme_llama_index.block import MnemeMemoryBlock

__all__ = ["MnemeMemoryBlock"]
