"""A parsed text: sentences, and tokens with their place in the dependency tree. Pure data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """One token. Labels are those of the pipeline's language; the names here are those of the English one."""

    text: str
    lemma: str
    pos: str  # universal part of speech: "VERB", "PROPN"
    tag: str  # part of speech of the language: "VBD"
    dep: str  # relation to the head: "nsubj"; "ROOT" of a sentence's root
    head: int  # place of the head in the sentence; its own place for the root
    entity: str  # "B-DATE" where an entity begins, "I-DATE" inside, "" outside of entities
    start: int  # offset of its first character in the text

    @property
    def end(self) -> int:
        """Offset behind its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class ParsedText:
    """The sentences of a text, in order."""

    text: str  # what was parsed: the beginning of a text over the bound
    sentences: tuple[tuple[Token, ...], ...]
