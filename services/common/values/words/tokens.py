"""Cuts a statement into words, and words to their base form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import CANONICAL, CONTRACTIONS, IRREGULAR, VERBS
from services.common.values.words.quantities import Token

PUNCTUATION: Final = ".,;:!?"
_TRIMMED: Final = "\"'()[]*_`“”‘"  # noqa: RUF001
_WORDS_MAX: Final = 120


def tokenize(text: str) -> list[Token]:
    """Returns words and punctuation marks, contractions written out; at most 120 words are read."""
    tokens: list[Token] = []
    for raw in text.replace("’", "'").split()[:_WORDS_MAX]:  # noqa: RUF001
        word = raw.strip(_TRIMMED)
        marks = ""
        while word and word[-1] in PUNCTUATION:
            word, marks = word[:-1], word[-1] + marks
        word = word.strip(_TRIMMED)
        tokens.extend(_parts(word))
        tokens.extend(Token(mark, mark) for mark in marks[:1])
    return tokens


@text_cache(16_384)
def lemma(word: str) -> str:
    """Returns the base form of a verb or the singular of a noun, by rules; names keep their form mostly."""
    return CANONICAL.get(base := _base(word), base)


def _base(word: str) -> str:
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in VERBS or len(word) < 4:
        return word
    for ending, endings in (("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", ""), ("d", ""), ("ing", "")):
        if not word.endswith(ending) or (ending == "d" and word[-2] != "e"):
            continue
        stem = word.removesuffix(ending) + endings
        for base in (stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem):
            if base in VERBS:
                return base
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _parts(word: str) -> Iterator[Token]:
    lower = word.lower()
    if not word or word in {"&", "-", "--"}:
        return
    if lower in CONTRACTIONS:
        for number, part in enumerate(CONTRACTIONS[lower].split()):
            yield Token(part.capitalize() if number == 0 and word[0].isupper() else part, part)
    elif lower.endswith("n't"):
        yield Token(word[:-3], lower[:-3])
        yield Token("not", "not")
    elif lower.endswith("'s"):
        yield Token(word[:-2], lower[:-2])
        yield Token("'s", "'s")
    elif lower.endswith(("'ve", "'ll", "'re", "'d", "'m")):
        yield Token(word[: word.index("'")], lower[: lower.index("'")])
    else:
        yield Token(word, lower)
