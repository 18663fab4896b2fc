"""What a turn states: its sentences, with the words by which others about the same are found."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from services.common.comparing.port import Comparer
from services.common.interactions import SourceInteraction
from services.common.owners import Owner
from services.common.text import split_sentences
from services.common.turns import MessageRole
from services.common.values.reading.antecedents import with_antecedents
from services.common.values.reading.quotations import quoted_places
from services.common.values.reading.unreal import unreal_places
from services.common.values.sentences import announces, is_statement, presupposed_part, stated_part
from services.semantic.config import SupersessionSettings
from services.semantic.supersession.model import Assertion, Place

_CODE_BLOCK: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ROLES: Final = frozenset({MessageRole.USER})
"""Whose statements supersede and are superseded: what an assistant or a tool says holds nothing."""


async def assertions_of(
    owner: Owner, sources: Sequence[SourceInteraction], settings: SupersessionSettings, comparer: Comparer
) -> list[Assertion]:
    """Returns what a person states in turns, sentence by sentence; nothing of other turns.

    "It" and "she" are replaced by what the sentence before names, where that is plain.

    Args:
        owner: Whose memory.
        sources: The turns.
        settings: Bounds.
        comparer: Reads by which words a statement is found.
    """
    # Splitting takes processor time: other calls go on meanwhile.
    stated = await asyncio.to_thread(
        lambda: [
            (source, with_antecedents(said := _stated(source, settings)), _not_meant(source, said))
            for source in sources
        ]
    )
    kept = [
        (source, sentences, number)
        for source, sentences, unreal in stated
        for number in range(min(len(sentences), settings.sentences_max))
        if number not in unreal
    ]
    words = await comparer.keys([sentences[number] for _, sentences, number in kept])
    return [
        Assertion(
            place=Place(source.interaction_id, number),
            text=sentences[number],
            speaker=source.turn.speaker,
            time=source.turn.time,
            scope_key=source.scope.key,
            keys=_keys(owner, found, settings),
            is_only=len(sentences) == 1,
            is_announced=announces(" ".join(sentences[max(0, number - 1) : number + 1])),
        )
        for (source, sentences, number), found in zip(kept, words, strict=True)
    ]


def numbered_statements(source: SourceInteraction, settings: SupersessionSettings) -> list[str]:
    """Returns the sentences of `assertions_of`, each at the place of its number."""
    return _stated(source, settings)[: settings.sentences_max]


def _stated(source: SourceInteraction, settings: SupersessionSettings) -> list[str]:
    if source.turn.role not in _ROLES:
        return []
    return list(_sentences(source.turn.content[: settings.turn_chars_max], settings))


def _not_meant(source: SourceInteraction, said: Sequence[str]) -> frozenset[int]:
    """The places of the sentences that do not hold for the speaker: what is no truth, and what somebody else wrote."""
    return unreal_places(said) | quoted_places(source.turn.content, said)


def _sentences(content: str, settings: SupersessionSettings) -> Iterator[str]:
    for line in _CODE_BLOCK.sub("", content).splitlines():
        for sentence in split_sentences(line):
            stated = stated_part(sentence)
            if len(stated) <= settings.sentence_chars_max and is_statement(stated):
                yield stated
            granted = presupposed_part(sentence)
            if granted and len(granted) <= settings.sentence_chars_max and is_statement(granted):
                yield granted


def _keys(owner: Owner, words: Iterable[str], settings: SupersessionSettings) -> tuple[int, ...]:
    """Digests that differ between owners, so that an index of all of them finds the words of one."""
    return tuple(_digest(owner.tenant_id, owner.user_id, word) for word in sorted(words)[: settings.keys_max])


def _digest(*parts: str) -> int:
    data = "\x1e".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), signed=True)
