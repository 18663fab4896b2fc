"""What a turn states: its sentences, with the words by which others about the same are found. Pure functions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from services.common.interactions import SourceInteraction
from services.common.owners import Owner
from services.common.text import split_sentences
from services.common.turns import MessageRole
from services.common.values.keys import statement_keys
from services.common.values.sentences import announces, is_statement, presupposed_part, stated_part
from services.semantic.config import SupersessionSettings
from services.semantic.supersession.model import Assertion, Place

_CODE_BLOCK: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ROLES: Final = frozenset({MessageRole.USER})
"""Whose statements supersede and are superseded: what an assistant or a tool says holds nothing."""


def assertions_of(owner: Owner, source: SourceInteraction, settings: SupersessionSettings) -> list[Assertion]:
    """Returns what a person states in a turn, sentence by sentence; nothing for other turns.

    Args:
        owner: Whose memory.
        source: The turn.
        settings: Bounds.
    """
    sentences = _stated(source, settings)
    return [
        Assertion(
            place=Place(source.interaction_id, number),
            text=text,
            speaker=source.turn.speaker,
            time=source.turn.time,
            scope_key=source.scope.key,
            keys=_keys(owner, text, settings),
            is_only=len(sentences) == 1,
            is_announced=announces(" ".join(sentences[max(0, number - 1) : number + 1])),
        )
        for number, text in enumerate(sentences[: settings.sentences_max])
    ]


def numbered_statements(source: SourceInteraction, settings: SupersessionSettings) -> list[str]:
    """Returns the sentences of `assertions_of`, each at the place of its number."""
    return _stated(source, settings)[: settings.sentences_max]


def _stated(source: SourceInteraction, settings: SupersessionSettings) -> list[str]:
    if source.turn.role not in _ROLES:
        return []
    return list(_sentences(source.turn.content[: settings.turn_chars_max], settings))


def _sentences(content: str, settings: SupersessionSettings) -> Iterator[str]:
    for line in _CODE_BLOCK.sub("", content).splitlines():
        for sentence in split_sentences(line):
            stated = stated_part(sentence)
            if len(stated) <= settings.sentence_chars_max and is_statement(stated):
                yield stated
            granted = presupposed_part(sentence)
            if granted and len(granted) <= settings.sentence_chars_max and is_statement(granted):
                yield granted


def _keys(owner: Owner, text: str, settings: SupersessionSettings) -> tuple[int, ...]:
    """Digests that differ between owners, so that an index of all of them finds the words of one."""
    words = sorted(statement_keys(text))[: settings.keys_max]
    return tuple(_digest(owner.tenant_id, owner.user_id, word) for word in words)


def _digest(*parts: str) -> int:
    data = "\x1e".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), signed=True)
