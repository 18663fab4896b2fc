"""A spaCy pipeline, called in the process that loads it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from services.common.parsing.model import ParsedText, Token
from services.common.parsing.port import ParserMissingError

if TYPE_CHECKING:
    from spacy.language import Language

TokenRow: TypeAlias = tuple[str, str, str, str, str, int, str, int]
"""The fields of a `Token`, as they are sent between processes."""

_UNUSED: Final = ("senter", "textcat")


class SpacyPipeline:
    """Tagger, lemmatizer, dependency parser and entities of one language. Not safe for use by several threads."""

    def __init__(self, model: str) -> None:
        """Load the pipeline; takes seconds.

        Args:
            model: Name of an installed package, or path of a folder with a pipeline.

        Raises:
            ParserMissingError: spaCy or the weights are absent or cannot be used.
        """
        self._nlp: Final = _loaded(model)

    def rows(self, texts: Sequence[str]) -> list[list[list[TokenRow]]]:
        """The sentences of each text as rows of tokens."""
        with self._nlp.memory_zone():  # words of one call are not held after it
            return [[_rows(sentence) for sentence in doc.sents] for doc in self._nlp.pipe(texts)]

    def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Each text, parsed, in order."""
        return [parsed(text, rows) for text, rows in zip(texts, self.rows(texts), strict=True)]


def parsed(text: str, rows: Sequence[Sequence[Sequence[Any]]]) -> ParsedText:
    """A text with its tokens, from their rows."""
    return ParsedText(text, tuple(tuple(Token(*row) for row in sentence) for sentence in rows))


def _loaded(model: str) -> Language:
    try:
        import spacy

        if "/" in model or Path(model).is_dir():
            return spacy.load(Path(model), exclude=_UNUSED)
        # By its module: a package need not be named as spaCy names its own.
        return importlib.import_module(model).load(exclude=list(_UNUSED))  # type: ignore[no-any-return]
    except (ImportError, AttributeError, OSError, ValueError) as error:
        raise ParserMissingError(f"the pipeline {model} cannot be loaded: {type(error).__name__}") from error


def _rows(sentence: Any) -> list[TokenRow]:
    first = sentence.start
    return [
        (
            token.text,
            token.lemma_,
            token.pos_,
            token.tag_,
            token.dep_,
            token.head.i - first,
            f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "",
            token.idx,
        )
        for token in sentence
    ]
