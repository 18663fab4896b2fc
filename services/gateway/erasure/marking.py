"""Marks what a turn corrects. The turn itself names it, so that its delivery completes what a crash interrupted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from services.common.auth import Principal
from services.common.text import split_sentences
from services.common.values.sentences import content_words
from services.gateway.erasure.statements import content_of, is_covered
from services.gateway.erasure.wording import words_of
from services.gateway.upstream import Upstream

METADATA_KEY: Final = "mneme.corrects"
"""Of a turn's metadata: the statements that it corrects, by ids and numbers, without content."""
WORDS_KEY: Final = "mneme.corrects.words"
"""Of a turn's metadata: which words of these statements were called wrong, by their numbers."""
_WHOLE: Final = -1
_WORDS_MAX: Final = 32
"""Words of a statement that are named as called wrong."""
_ABOUT_CHARS_MAX: Final = 1_000
"""Of what a correction is about: the tier looks at its words whenever it reads a fact of the sentence."""
_COVERED_SHARE: Final = 0.5
"""Share of a statement's words that a right text has which takes the place of all of it."""


class About(NamedTuple):
    """What a correction is about."""

    words: str = ""  # of facts that it corrects; empty: it corrects all facts of the sentence
    are_called_wrong: bool = False  # the words are of the sentence, and somebody called them wrong


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement that a turn corrects."""

    interaction_id: str
    number: int = _WHOLE  # of the sentence in its turn, from 0
    words: tuple[int, ...] | None = None  # which of its words were called wrong; None: no part of it was

    @property
    def is_whole(self) -> bool:
        """Whether all of the turn is corrected."""
        return self.number == _WHOLE

    @property
    def place(self) -> str:
        """The statement in metadata."""
        return self.interaction_id if self.is_whole else f"{self.interaction_id}:{self.number}"

    def statement(self, said: str) -> str | None:
        """The sentence in the turn's text; empty for all of it, None where there is no such sentence."""
        if self.is_whole:
            return ""
        sentences = split_sentences(said)
        return sentences[self.number] if self.number < len(sentences) else None

    def about(self, statement: str, right: str) -> About:
        """Returns the words by which facts of a sentence are known as corrected.

        Where words were called wrong, those of them that the right text does not repeat: "Oslo", where Zoe lives in
        Bergen and not in Oslo. Else the right text. All facts are corrected where the right text has half of the
        sentence's words, and where no word says which part of the sentence is meant.
        """
        called_wrong = False
        if self.words is None:
            if is_covered(statement, right, share=_COVERED_SHARE):
                return About()
            about = without_shared_names(right, statement)
        else:
            called = [word.text for word in words_of(statement) if word.index in self.words]
            about = " ".join([word for word in called if content_of(word).isdisjoint(content_of(right))])
            called_wrong = bool(content_words(about))
            if not called_wrong:  # nothing but "not", say
                about = " ".join([*called, right])
        if content_words(statement).isdisjoint(content_words(about)):
            return About()
        return About(about[:_ABOUT_CHARS_MAX], called_wrong)


def metadata_of(corrected: Iterable[Corrected]) -> dict[str, str]:
    """The metadata of a turn that corrects statements."""
    found = list(corrected)
    words = [f"{one.place}:{'.'.join(map(str, one.words))}" for one in found if one.words is not None]
    metadata = {METADATA_KEY: ",".join(one.place for one in found)}
    return metadata | ({WORDS_KEY: ",".join(words)} if words else {})


def corrected_by(metadata: Mapping[str, str]) -> list[Corrected]:
    """What a turn with this metadata corrects; nothing where it says something else."""
    words = dict(entry.rpartition(":")[::2] for entry in filter(None, metadata.get(WORDS_KEY, "").split(",")))
    found = []
    for entry in filter(None, metadata.get(METADATA_KEY, "").split(",")):
        interaction_id, _, number = entry.partition(":")
        if number and not number.isdecimal():
            return []
        found.append(Corrected(interaction_id, int(number) if number else _WHOLE, _numbers(words.get(entry))))
    return found


def _numbers(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(int(part) for part in text.split(".") if part.isdecimal())


def called_wrong(statement: str, said_wrong: str) -> tuple[int, ...]:
    """Which words of a statement a text has that calls it wrong."""
    wrong = content_of(said_wrong)
    found = (word.index for word in words_of(statement) if not wrong.isdisjoint(content_of(word.text)))
    return tuple(found)[:_WORDS_MAX]


def text_of(episode: episodic_pb2.Episode) -> str:
    """What was said."""
    return episode.query or episode.response


async def mark(
    upstream: Upstream,
    principal: Principal,
    user_id: str,
    standing_id: str,
    corrected: Sequence[Corrected],
    *,
    right: str,
    timeout_seconds: float,
) -> None:
    """Marks statements as corrected by a turn. They never held: the marks begin when they were said. Repeatable.

    Args:
        upstream: The tiers.
        principal: Who marks.
        user_id: Whose statements.
        standing_id: The turn.
        corrected: The statements.
        right: What the turn says.
        timeout_seconds: For each call.
    """
    found = await upstream.episodic.batch_get(
        principal,
        episodic_pb2.BatchGetEpisodesRequest(
            user_id=user_id, episode_ids=list(dict.fromkeys(one.interaction_id for one in corrected))
        ),
        timeout_seconds=timeout_seconds,
    )
    episodes = {episode.episode_id: episode for episode in found.episodes}
    requests: dict[tuple[int, About], semantic_pb2.MarkSupersededRequest] = defaultdict(
        lambda: semantic_pb2.MarkSupersededRequest(user_id=user_id, standing_interaction_id=standing_id)
    )
    for one in corrected:
        episode = episodes.get(one.interaction_id)
        statement = one.statement(text_of(episode)) if episode is not None else None
        if episode is not None and statement is not None:  # else it was erased
            about = one.about(statement, right) if statement else About()
            request = requests[episode.time.ToNanoseconds(), about]
            request.end_time.CopyFrom(episode.time)
            request.about, request.about_called_wrong = about
            request.statements.add(interaction_id=one.interaction_id, statement=statement)
    for request in requests.values():
        await upstream.facts.mark_superseded(principal, request, timeout_seconds=timeout_seconds)


def without_shared_names(text: str, statement: str) -> str:
    """Returns a text without the names that a statement has too, if its other words share one with the statement.

    "Zoe lives in Bergen" is about where Zoe lives, and not about all that is said of Zoe.
    """
    capitals = (word for number, word in enumerate(words_of(statement)) if number and word.text[0].isupper())
    names = {word.bare for word in capitals if content_of(word.text)}
    words = list(words_of(text))
    left = " ".join(word.text for word in words if word.bare not in names)
    is_named = any(word.bare in names for word in words)
    return left if is_named and not content_of(left).isdisjoint(content_of(statement)) else text
