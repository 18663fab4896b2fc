"""What is known of each candidate turn, as one row of numbers: the input of the fitted rankers.

A feature is a score within the candidates (standardised, so that no scale of an engine matters), the same of the
turns around, or a plain property of turn and question. Nothing here depends on how many memories the user has, except
the term weights, which come from the user's own counts. Names of features are part of the weights' file: a change of
what a name means needs a new name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache, reduce
from operator import or_
from typing import Final

import numpy as np

from mneme.episodic.internal.v1 import episodic_internal_pb2
from services.common.turn_traits import Trait
from services.gateway.recall.columns import EpisodeColumns, FloatColumn
from services.gateway.recall.question.kinds import QuestionKind, read_kinds
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.burst_features import burst_feature_names, read_burst_features
from services.gateway.recall.ranking.course_features import course_feature_names, read_course_features
from services.gateway.recall.ranking.standardising import Column, standardised, token_weights
from services.gateway.recall.ranking.surroundings import Surroundings
from services.gateway.recall.ranking.times import time_match

_NEIGHBOUR_SHARE: Final = 0.85  # of a neighbour's token score that counts as the turn's own
_RARE_TOKENS: Final = 3
_COVERED: Final = 0.6  # cosine from which a word piece counts as said
_SAID: Final = 0.85  # cosine from which it counts as said in the same sense
_OPEN_CHARS: Final = 300.0  # turns up to this length take their neighbours' evidence in full
_PIECE_CHARS: Final = 800.0
_SHORT_CHARS: Final = 80.0
_RANK_SCALES: Final = (10.0, 60.0)
_COURSE_WEIGHTS: Final = np.array((0.5, 0.4, 1.0))
"""Of dense, lexical and late scores, the last with those of neighbours, in what turns of a session are compared by."""


@dataclass(frozen=True, slots=True)
class Features:
    """n rows of f numbers each, and to which part of an explanation each feature belongs."""

    names: tuple[str, ...]  # f
    parts: tuple[str, ...]  # f
    values: FloatColumn  # [n, f]


class Extra(Flag):
    """Features that only some rankers were fitted with; the others do not get them."""

    BURSTS = auto()  # see burst_features.py
    COURSE = auto()  # see course_features.py


def read_features(
    columns: EpisodeColumns, question: QuestionEvidence, *, extras: Extra = Extra.BURSTS | Extra.COURSE
) -> Features:
    """Returns the features of the candidates; those of late interaction are 0 where there are no token vectors.

    Args:
        columns: The candidates, n of them, with speakers numbered as the question has them; n may be 0.
        question: What was read from the question.
        extras: Which of these, too.
    """
    found = list(_all(columns, question, extras))
    by_feature = np.zeros((len(found), len(columns.dense)), dtype=np.float32)  # rows are filled faster than columns
    for row, (_, _, column) in zip(by_feature, found, strict=True):
        if column is not _NOTHING:
            row[:] = column
    names, parts = tuple(name for name, _, _ in found), tuple(part for _, part, _ in found)
    return Features(names, parts, np.ascontiguousarray(by_feature.T))


@cache
def feature_parts() -> Mapping[str, str]:
    """The part of an explanation that each feature belongs to, by name, in the order of the features."""
    nobody = EpisodeColumns.from_response(episodic_internal_pb2.SearchCandidatesResponse())
    features = read_features(nobody, QuestionEvidence(text="", first_person_text=""))
    return dict(zip(features.names, features.parts, strict=True))


def feature_names() -> tuple[str, ...]:
    """Names of all features, in their order."""
    return tuple(feature_parts())


@cache
def extra_names() -> Mapping[Extra, frozenset[str]]:
    """Names of the features of each extra."""
    return {Extra.BURSTS: burst_feature_names(_SCORES), Extra.COURSE: course_feature_names()}


@cache
def extras_among(names: frozenset[str]) -> Extra:
    """The extras that features with these names belong to."""
    found = (extra for extra, own in extra_names().items() if not own.isdisjoint(names))
    return reduce(or_, found, Extra(0))


_Named = tuple[str, str, Column | float]
_NOTHING: Final = 0.0
"""A feature that is 0 for every candidate."""


def _all(columns: EpisodeColumns, question: QuestionEvidence, extras: Extra) -> Iterator[_Named]:
    around = Surroundings.of(columns.session, columns.position)
    late = _late(columns, around)
    scores = np.stack([standardised(columns.dense), standardised(columns.lexical), late[0]])  # as `_SCORES`
    yield from ((name, name, column) for name, column in zip(_SCORES[:2], scores, strict=False))
    yield from ((f"late_{name}", "late", column) for name, column in zip(_LATE, late, strict=True))
    yield from _combined(scores)
    yield from _ranks(scores)
    yield from _neighbours(scores, columns, around)
    if Extra.BURSTS in extras:
        yield from read_burst_features(_SCORES, scores, columns)
    if Extra.COURSE in extras:
        yield from read_course_features(
            _COURSE_WEIGHTS @ (scores[0], scores[1], late[2]), columns.session, around, read_kinds(question.text)
        )
    yield from _sessions(scores, columns)
    yield from _speakers(columns, question)
    yield "time", "time", time_match(columns.time, question)
    yield from _derived(columns)
    yield from _kinds(columns, question)


_SCORES: Final = ("dense", "lexical", "late")
_LATE: Final = (
    "weighted",
    "plain",
    "near",
    "rare",
    "covered",
    "covered_near",
    "said",
    "standing_out",
    "best",
    "reverse",
    "sentence",
)


def _late(columns: EpisodeColumns, around: Surroundings) -> Column:
    """Late interaction: how well each word piece of the question is met by the turn's best word piece.

    Returns:
        A row for each of `_LATE`, standardised over the candidates that have token vectors; the others are as good as
        the mean.
    """
    scores, present = columns.token_scores, columns.has_tokens
    found = np.zeros((len(_LATE), len(columns.dense)))
    if scores is None or not scores.size or not present.any():
        return found
    met = scores.astype(np.float64)
    idf, weights, roots = token_weights(columns)
    padded = np.concatenate([met, np.zeros((met.shape[0], 1))], axis=1)
    beside = np.maximum(padded[:, around.rows(-1)], padded[:, around.rows(1)])
    near = np.maximum(met, _NEIGHBOUR_SHARE * beside)
    rare = np.argsort(-idf, kind="stable")[:_RARE_TOKENS]
    means = met.mean(axis=1, keepdims=True)
    centred = met - means
    deviations = np.sqrt(np.einsum("qn,qn->q", centred, centred) / met.shape[1])
    standing_out = centred / np.maximum(deviations, 1e-6)[:, np.newaxis]
    found[0] = weights @ met
    found[1] = met.mean(axis=0)
    found[2] = roots @ near
    found[3] = met[rare].min(axis=0)
    found[4] = weights @ (met >= _COVERED)
    found[5] = weights @ (near >= _COVERED * _NEIGHBOUR_SHARE)
    found[6] = weights @ (met >= _SAID)
    found[7] = weights @ standing_out
    found[8] = standing_out.max(axis=0)
    found[9] = columns.reverse
    found[10] = columns.sentence
    if present.all():
        return standardised(found)
    found[:, present] = standardised(found[:, present])
    found[:, ~present] = 0.0
    return found


def _combined(scores: Column) -> Iterator[_Named]:
    dense, lexical, _ = scores
    yield "lower_of_both", "lexical", np.minimum(dense, lexical)
    yield "higher_of_both", "dense", np.maximum(dense, lexical)


def _ranks(scores: Column) -> Iterator[_Named]:
    for name, column in zip(_SCORES, scores, strict=True):
        is_known = bool(column.any())
        ranks = _ranks_of(column) if is_known else column
        for scale in _RANK_SCALES:
            yield f"{name}_rank_{scale:.0f}", name, scale / (scale + ranks) if is_known else _NOTHING


def _ranks_of(column: Column) -> Column:
    """Ranks from 1 on, equal scores alike, so that the order of the candidates does not matter."""
    order = np.argsort(column)
    ordered = column[order]
    ranks = np.empty(column.size)
    ranks[order] = column.size + 1.0 - np.searchsorted(ordered, ordered, side="right")  # ordered: half the time
    return ranks


def _neighbours(scores: Column, columns: EpisodeColumns, around: Surroundings) -> Iterator[_Named]:
    known = scores if scores[-1].any() else scores[:-1]  # without token vectors a third of it is for nothing
    openness = np.minimum(1.0, _OPEN_CHARS / np.maximum(columns.length, 1))
    asks = np.append((columns.traits & int(Trait.QUESTION)) != 0, False).astype(np.float64)
    asked = asks[around.rows(-1)]
    positive = np.zeros((len(known), known.shape[1] + 1))  # the last place stands for "no such candidate"
    np.maximum(known, 0.0, out=positive[:, :-1])
    before, after = (positive.take(around.rows(offset), axis=1) for offset in (-1, 1))
    second, third = (
        positive.take(around.rows(-offset), axis=1) + positive.take(around.rows(offset), axis=1) for offset in (2, 3)
    )
    answers = asked * before
    of_each = (
        ("before", "neighbours", before),
        ("after", "neighbours", after),
        ("second", "neighbours", second),
        ("third", "neighbours", third),
        ("beside_short", "neighbours", openness * (before + after)),
        ("second_beside_short", "neighbours", openness * second),
        ("answers", "answers", answers),
        ("answers_short", "answers", openness * answers),
    )
    for index, name in enumerate(_SCORES):
        is_known = index < len(known)
        yield from ((f"{name}_{what}", part, column[index] if is_known else _NOTHING) for what, part, column in of_each)
    yield "answers", "answers", asked
    yield "is_answered", "answers", asks[:-1] * (around.rows(1) < len(columns.dense))


def _sessions(scores: Column, columns: EpisodeColumns) -> Iterator[_Named]:
    count = int(columns.session.max(initial=0)) + 1
    for name, column in zip(_SCORES, scores, strict=True):
        if not column.any():
            yield f"{name}_session", "session", _NOTHING
            continue
        best = np.full(count, -np.inf)
        np.maximum.at(best, columns.session, column)
        yield f"{name}_session", "session", best[columns.session]


def _speakers(columns: EpisodeColumns, question: QuestionEvidence) -> Iterator[_Named]:
    is_named = bool(question.named_speakers)
    named = np.zeros(len(columns.dense))
    for speaker in question.named_speakers:
        named[columns.speaker == speaker] = 1.0
    by_assistant = (columns.traits & int(Trait.ASSISTANT) != 0).astype(np.float64)
    yield "speaker_named", "speaker", named if is_named else _NOTHING
    yield "speaker_other", "speaker", 1.0 - named if is_named else _NOTHING
    yield "by_user_if_about_user", "role", 1.0 - by_assistant if question.about_user else _NOTHING
    yield "by_assistant_if_about_assistant", "role", by_assistant if question.about_assistant else _NOTHING
    yield "by_assistant", "role", by_assistant


def _derived(columns: EpisodeColumns) -> Iterator[_Named]:
    """What other tiers found that was made from the turn."""
    for name, part, column in (("fact", "facts", columns.fact), ("note", "notes", columns.note)):
        found = column.astype(np.float64) if column.size else np.zeros(len(columns.dense))
        yield name, part, found
        yield f"{name}_there", part, (found > 0).astype(np.float64)


def _kinds(columns: EpisodeColumns, question: QuestionEvidence) -> Iterator[_Named]:
    traits = dict(zip(Trait, ((columns.traits & _TRAIT_BITS) != 0).astype(np.float64), strict=True))
    kinds = {kind: kind in found for found in (read_kinds(question.text),) for kind in QuestionKind}
    length = np.maximum(columns.length, 1).astype(np.float64)
    length_log = np.log(length)
    first_person = traits[Trait.FIRST_PERSON]
    yield "length_log", "length", length_log
    yield "pieces_log", "length", np.log2(np.ceil(length / _PIECE_CHARS))
    yield "is_short", "length", (length < _SHORT_CHARS).astype(np.float64)
    yield "opens_session", "kind", (columns.position == 0).astype(np.float64)
    yield "place_in_session", "kind", np.log1p(columns.position)
    yield "first_person_if_personal", "kind", first_person if question.is_personal else _NOTHING
    yield "first_person_if_named", "kind", first_person if question.named_speakers else _NOTHING
    for trait, column in traits.items():
        if trait is not Trait.ASSISTANT:
            yield _TRAIT_NAMES[trait], "kind", column
    instruction = traits[Trait.INSTRUCTION] * (1.0 - traits[Trait.ASSISTANT])
    yield "instruction_of_user", "kind", instruction
    yield "instruction_if_request", "kind", instruction if kinds[QuestionKind.REQUEST] else _NOTHING
    for name, kind, trait in _CROSSED:
        yield name, "kind", traits[trait] if kinds[kind] else _NOTHING
    for kind, is_asked in kinds.items():
        yield f"length_log_if_{_word(kind)}", "length", length_log if is_asked else _NOTHING
    # The same for all candidates: nothing to a linear ranker, and what trees choose their branches by.
    for kind, is_asked in kinds.items():
        yield f"asks_{_word(kind)}", "question", float(is_asked)
    yield "asks_about_named", "question", float(len(question.named_speakers))
    yield "asks_about_user", "question", float(question.about_user)
    yield "asks_words", "question", float(len(question.text.split()))


def _word(member: Trait | QuestionKind) -> str:
    return (member.name or "").lower()


_TRAIT_BITS: Final = np.array([[int(trait)] for trait in Trait], dtype=np.int32)
_TRAIT_NAMES: Final = {trait: f"is_{_word(trait)}" for trait in Trait}
_CROSSED: Final = tuple(
    (f"{_word(trait)}_if_{_word(kind)}", kind, trait)
    for kind, trait in (
        (QuestionKind.WHEN, Trait.TIME_EXPRESSION),
        (QuestionKind.WHEN, Trait.NUMBER),
        (QuestionKind.WHEN, Trait.PAST),
        (QuestionKind.HOW_MANY, Trait.NUMBER),
        (QuestionKind.WHERE, Trait.NAMES),
        (QuestionKind.WHO, Trait.NAMES),
        (QuestionKind.LIST, Trait.NAMES),
        (QuestionKind.LIST, Trait.LIST),
        (QuestionKind.WHY, Trait.FIRST_PERSON),
        (QuestionKind.ORDER, Trait.FIRST_PERSON),
        (QuestionKind.ORDER, Trait.QUESTION),
        (QuestionKind.SUMMARY, Trait.FIRST_PERSON),
        (QuestionKind.SUMMARY, Trait.QUESTION),
        (QuestionKind.SUMMARY, Trait.ASSISTANT),
        (QuestionKind.SUMMARY, Trait.LIST),
        (QuestionKind.ORDER, Trait.ASSISTANT),
        (QuestionKind.REQUEST, Trait.ASSISTANT),
        (QuestionKind.REQUEST, Trait.FIRST_PERSON),
        (QuestionKind.REQUEST, Trait.PREFERENCE),
    )
)
