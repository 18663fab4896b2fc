"""A token counter for tests: words and punctuation marks."""

from __future__ import annotations

import re


class WordCounter:
    """A `TokenCounter` that counts words and punctuation marks."""

    name = "words"

    def count_tokens(self, text: str) -> int:
        """Returns how many there are; it adds up over lines and sentences, as the counts of a real tokenizer do."""
        return len(re.findall(r"\w+|[^\w\s]", text))
