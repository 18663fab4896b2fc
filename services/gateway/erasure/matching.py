"""Which texts a query in plain words means: by the names and numbers in it, by its words, or by similarity.

Pure functions. A similarity alone never chooses a text that names somebody else, and never much below the best one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.named import named
from services.gateway.erasure.naming import is_name
from services.gateway.erasure.owning import (
    LIGHT,
    is_another,
    is_another_act,
    is_called_own,
    is_of_another,
    is_own,
    is_told_of_another,
)
from services.gateway.erasure.parts import goes_with
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.times import is_at_another_time, times_in
from services.gateway.erasure.topics import as_one_word, is_apart, is_clearly_told, told_of
from services.gateway.erasure.word_names import adjacent, is_opening
from services.gateway.erasure.wording import (
    ARTICLES,
    DETERMINERS,
    FIRST,
    LINKS,
    OF_THIRD,
    Chosen,
    Word,
    has,
    is_form,
    is_topic,
    names_other_kin,
    words_of,
)

_BODY: Final = frozenset(
    [
        "knee",
        "shoulder",
        "hip",
        "back",
        "ankle",
        "wrist",
        "elbow",
        "neck",
        "foot",
        "hand",
        "heart",
        "eye",
        "ear",
        "tooth",
        "nose",
        "leg",
        "arm",
        "finger",
        "toe",
        "breast",
    ]
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Bounds of similarity."""

    similarity_min: float = 0.38  # of a text that shares no word with the query
    similarity_margin: float = 0.1  # how far below the best one it may be
    beside_words_min: float = 0.45  # the same, where other texts share the words
    with_name_min: float = 0.6  # of a text that has the name and no word of the topic
    told_min: float = 0.1  # of a text that tells of a private matter in other words
    clear_min: float = 0.0  # the same, in words that belong to no other matter
    alone_max: int = 10  # texts that similarity alone chooses
    statement_min: float = 0.55  # of a statement to the one that Correct calls wrong
    statement_margin: float = 0.05  # how far below the best one it may be


def choose(wanted: Wanted, texts: Sequence[str], similarities: Sequence[float], rules: Rules) -> list[int]:
    """The texts that a query means.

    Args:
        wanted: The query.
        texts: Candidates.
        similarities: Cosine of each to the query.
        rules: Bounds.

    Returns:
        Their indices, ascending.
    """
    if wanted.is_empty:
        return []
    read_texts = [list(words_of(text)) for text in texts]
    if wanted.names:
        of_name = [index for index in named(wanted, read_texts) if not is_of_another(read_texts[index], wanted)]
        if wanted.about_name:
            return of_name
        of_name = [index for index in of_name if not is_at_another_time(read_texts[index], wanted.times)]
        worded = {
            index
            for index in of_name
            if any(has(read_texts[index], topic) for topic in wanted.topics)
            or wanted.times & times_in(read_texts[index])
        }
        # The name alone makes texts similar: beside texts with words of the topic they must be as near as those.
        best = max((similarities[index] for index in worded), default=0.0)
        low = max(rules.with_name_min, best - rules.similarity_margin)
        return [
            index
            for index in of_name
            if index in worded
            or similarities[index] >= low
            or told_of(wanted.matters, texts[index])
            or (
                _has_its_place(wanted, read_texts[index])
                and goes_with(wanted.topics, [word.bare for word in read_texts[index]])
            )
        ]
    possible = [
        index
        for index, words in enumerate(read_texts)
        if wanted.numbers <= {word.lower for word in words}
        and all(any(is_name(words, place, (owner,)) for place in range(len(words))) for owner in wanted.owners)
        and not is_apart(wanted.matters, texts[index])
        and not _is_of_another_part(read_texts[index], wanted)
        and not is_another_act(read_texts[index], wanted)
        and not is_at_another_time(read_texts[index], wanted.times)
    ]
    possible = list(_of_the_kind(possible, read_texts, wanted))
    told = [index for index in possible if _is_told(wanted, texts[index], similarities[index], rules)]
    by_words = _by_topic(wanted, possible, told, read_texts, similarities, rules)
    chosen = sorted({*by_words, *told})
    # "The meeting on Friday": where one says so, those that do not say when may be others.
    dated = [index for index in chosen if wanted.times & times_in(read_texts[index])]
    return [index for index in dated if any(has(read_texts[index], topic) for topic in wanted.topics)] or chosen


def _has_its_place(wanted: Wanted, words: Sequence[Word]) -> bool:
    """Whether a text names the place that a query names, not only whom it is for: "the weekend in Bruges for Mum"."""
    return not wanted.places or any(is_name(words, at, name) for at in range(len(words)) for name in wanted.places)


def _is_told(wanted: Wanted, text: str, similarity: float, rules: Rules) -> bool:
    """Whether the speaker tells of a matter of the query in other words."""
    if wanted.is_of_other or wanted.owners:
        return False
    if similarity >= rules.told_min and told_of(wanted.matters, text):
        return True
    return similarity >= rules.clear_min and is_clearly_told(wanted.matters, text)


def _by_topic(
    wanted: Wanted,
    possible: Sequence[int],
    told: Sequence[int],
    texts: Sequence[Sequence[Word]],
    similarities: Sequence[float],
    rules: Rules,
) -> list[int]:
    """Those with the most words of the topic; where none has any, the most similar ones."""
    if not wanted.topics:
        return list(possible) if wanted.numbers or wanted.owners else []
    if told or any(is_called_own(texts[index], wanted) for index in possible):
        # The speaker has one: another's is not meant, nor is the kind.
        possible = [index for index in possible if not is_another(texts[index], wanted)]
    counted = as_one_word(wanted.topics - LIGHT or wanted.topics)
    shared = {
        index: sum(any(has(_without_titles(texts[index]), word) for word in words) for words in counted)
        for index in possible
    }
    most = max(shared.values(), default=0)
    own = [index for index in possible if not wanted.own_words or is_own(texts[index], wanted)]
    worded = [index for index in own if most and shared[index] == most]
    if wanted.own_words and (worded or told or most == len(counted) > 1):
        # "The stammer gets worse": of what the speaker has called their own.
        same = [
            index
            for index in possible
            if shared[index] == most
            and (_opens_with_it(texts[index], wanted) or _names_it_whole(texts[index], counted, shared[index]))
            and not is_told_of_another(texts[index], wanted)
            and not _is_of_kind_alone(texts[index], wanted)
        ]
        known = _introduced([texts[index] for index in worded], [texts[index] for index in possible], wanted)
        worded += [
            index
            for index in same
            if index not in worded
            and (
                similarities[index] >= rules.beside_words_min
                or (most == len(counted) and {word.bare for word in texts[index][1:2]} & known)
            )
        ]
    if worded and most < len(counted):
        # Only a part of the words: they must be near as well.
        low = rules.beside_words_min if told else rules.similarity_min
        worded = near(worded, similarities, low, rules.similarity_margin)
    best = max((similarities[index] for index in worded), default=0.0)
    low = max(rules.beside_words_min if worded or told else rules.similarity_min, best - rules.similarity_margin)
    others = [
        index
        for index in own
        if not any(has(texts[index], topic) for words in counted for topic in words)
        and not names_other_kin(texts[index], wanted.topics)
        and not _has_a_part_of(texts[index], wanted.topics)
    ]
    return sorted([*worded, *near(others, similarities, low, rules.similarity_margin)[: rules.alone_max]])


def _without_titles(words: Sequence[Word]) -> Sequence[Word]:
    """Without words that are a part of a name: "the Pension Adler", where a pension is meant."""
    return [
        word
        for place, word in enumerate(words)
        if not (
            word.is_capital
            and not is_opening(words, place)
            and any(one.is_capital for one in adjacent(words, place)[:1])
        )
    ]


def _has_a_part_of(words: Sequence[Word], topics: Collection[str]) -> bool:
    """Whether a text has a word of a compound alone and so looks alike: "our break", where a break-in is meant."""
    parts = {part for topic in topics if "-" in topic for part in topic.split("-") if len(part) > 3}
    return any(lemma(word.bare) in parts for word in words)


def _of_the_kind(possible: Sequence[int], texts: Sequence[Sequence[Word]], wanted: Wanted) -> Sequence[int]:
    """Without texts about another kind of the thing, where one has its kind: "motorcycle exam" beside "bar exam"."""
    for kind, thing in wanted.pairs:
        whole = [index for index in possible if has(texts[index], kind) and has(texts[index], thing)]
        if whole:
            possible = [index for index in possible if index in whole or not _is_of_kind(texts[index], thing)]
    return possible


def _is_of_kind_alone(words: Sequence[Word], wanted: Wanted) -> bool:
    """Whether a text has the word for the kind and not the thing: "the cash", where the cash register is meant."""
    kinds = [kind for kind, thing in wanted.pairs if not has(words, thing)]
    return any(lemma(word.bare) == kind for word in words[1:2] for kind in kinds)


def _is_of_kind(words: Sequence[Word], thing: str) -> bool:
    """Whether a noun stands right before a thing and says of which kind it is."""
    return any(
        is_topic(word, thing)
        and word.index == before.index + 1
        and before.bare not in DETERMINERS | FIRST | LINKS | ARTICLES | OF_THIRD
        and not before.is_possessive
        and lemma(before.bare) not in VERBS
        for before, word in pairwise(words)
    )


def _is_of_another_part(words: Sequence[Word], wanted: Wanted) -> bool:
    """Whether a query is about a part of the body and a text about another one: "knee surgery", "shoulder physio"."""
    asked = wanted.topics & _BODY
    named = {lemma(word.bare) for word in words} & _BODY
    return bool(asked and named) and not asked & named


def near(chosen: Sequence[int], similarities: Sequence[float], low: float, margin: float) -> list[int]:
    """Returns those at least `low` and not far below the best one, best first."""
    best = max((similarities[index] for index in chosen), default=0.0)
    found = [index for index in chosen if similarities[index] >= max(low, best - margin)]
    return sorted(found, key=lambda index: -similarities[index])


def _opens_with_it(words: Sequence[Word], wanted: Wanted) -> bool:
    """Whether a text is about the topic itself, which it calls known: "the stammer gets worse"."""
    opening = [word.bare for word in words[:3]]
    is_known = len(opening) > 2 and opening[0] == "the" and any(is_form(opening[1], topic) for topic in wanted.topics)
    return is_known and (opening[2] in AUXILIARIES or lemma(opening[2]) in VERBS)


def _introduced(own: Sequence[Sequence[Word]], texts: Sequence[Sequence[Word]], wanted: Wanted) -> frozenset[str]:
    """Forms of the topic that the speaker has one of, and nobody else: "a psychotherapist", where therapy is meant.

    What a text calls "the psychotherapist" is that one, however little else it has in common with the query.
    """
    if any(is_another(words, wanted) or is_told_of_another(words, wanted) for words in texts):
        return frozenset()
    return frozenset(
        word.bare
        for words in own
        for before, word in pairwise(words)
        if before.lower in ARTICLES | {"my", "our"}
        and word.index == before.index + 1
        and any(is_topic(word, topic) for topic in wanted.topics)
    )


def _names_it_whole(words: Sequence[Word], counted: Collection[frozenset[str]], shared: int) -> bool:
    """Whether a text names a thing by all of its words or by an abbreviation, behind "the": "the nose job"."""
    if shared < len(counted):
        return False
    behind = [word for before, word in pairwise(words) if before.lower == "the" and word.index == before.index + 1]
    known = [word for word in behind if any(is_topic(word, topic) for topics in counted for topic in topics)]
    return bool(known) and (len(counted) > 1 or (known[0].text.isupper() and len(known[0].text) > 1))


def reason_of(wanted: Wanted, text: str) -> Chosen:
    """Returns why a query means a text that was chosen for it."""
    words = list(words_of(text))
    if wanted.names and any(is_name(words, place, name) for place in range(len(words)) for name in wanted.names):
        return Chosen.NAME
    if any(has(words, topic) for topic in wanted.topics) or wanted.numbers & {word.lower for word in words}:
        return Chosen.WORDS
    if told_of(wanted.matters, text) or is_clearly_told(wanted.matters, text):
        return Chosen.MATTER
    return Chosen.SIMILARITY
