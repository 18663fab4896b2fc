"""What is known of each candidate turn, as one row of numbers: the input of the fitted rankers.

A feature is a score within the candidates (standardised, so that no scale of an engine matters), the same of the
turns around, or a plain property of turn and question. Nothing here depends on how many memories the user has, except
the term weights, which come from the user's own counts. Names of features are part of the weights' file: a change of
what a name means needs a new name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from mneme.episodic.v1 import episodic_pb2
from services.gateway.recall.model import EpisodeColumns, FloatColumn
from services.gateway.recall.question import QuestionEvidence
from services.gateway.recall.question_kind import QuestionKind, read_kinds
from services.gateway.recall.surroundings import Surroundings
from services.gateway.recall.traits import Trait

Column = npt.NDArray[np.float64]

_NEIGHBOUR_SHARE: Final = 0.85  # of a neighbour's token score that counts as the turn's own
_RARE_TOKENS: Final = 3
_COVERED: Final = 0.6  # cosine from which a word piece counts as said
_SAID: Final = 0.85  # cosine from which it counts as said in the same sense
_OPEN_CHARS: Final = 300.0  # turns up to this length take their neighbours' evidence in full
_PIECE_CHARS: Final = 800.0
_SHORT_CHARS: Final = 80.0
_SECONDS_PER_DAY: Final = 86_400.0
_DAYS_AFTER: Final = 14.0
_DAYS_BEFORE: Final = 7.0
_RANK_SCALES: Final = (10.0, 60.0)


@dataclass(frozen=True, slots=True)
class Features:
    """n rows of f numbers each, and to which part of an explanation each feature belongs."""

    names: tuple[str, ...]  # f
    parts: tuple[str, ...]  # f
    values: FloatColumn  # [n, f]


def read_features(columns: EpisodeColumns, question: QuestionEvidence) -> Features:
    """Returns the features of the candidates; those of late interaction are 0 where there are no token vectors.

    Args:
        columns: The candidates, n of them, with speakers numbered as the question has them; n may be 0.
        question: What was read from the question.
    """
    found = list(_all(columns, question))
    values = np.empty((len(columns.dense), len(found)), dtype=np.float32)
    for index, (_, _, column) in enumerate(found):
        values[:, index] = column
    return Features(tuple(name for name, _, _ in found), tuple(part for _, part, _ in found), values)


@cache
def feature_parts() -> Mapping[str, str]:
    """The part of an explanation that each feature belongs to, by name, in the order of the features."""
    nobody = EpisodeColumns.from_response(episodic_pb2.SearchCandidatesResponse())
    features = read_features(nobody, QuestionEvidence(text="", first_person_text=""))
    return dict(zip(features.names, features.parts, strict=True))


def feature_names() -> tuple[str, ...]:
    """Names of all features, in their order."""
    return tuple(feature_parts())


_Named = tuple[str, str, Column | float]


def _all(columns: EpisodeColumns, question: QuestionEvidence) -> Iterator[_Named]:
    around = Surroundings.of(columns.session, columns.position)
    own = {"dense": _standardised(columns.dense), "lexical": _standardised(columns.lexical)}
    late = _late(columns, around)
    yield from ((name, name, column) for name, column in own.items())
    yield from ((f"late_{name}", "late", column) for name, column in late.items())
    scores = own | {"late": late["weighted"]}
    yield from _combined(scores)
    yield from _ranks(scores)
    yield from _neighbours(scores, columns, around)
    yield from _sessions(scores, columns)
    yield from _speakers(columns, question)
    yield "time", "time", _time(columns.time, question)
    yield from _derived(columns)
    yield from _kinds(columns, question)


def _late(columns: EpisodeColumns, around: Surroundings) -> dict[str, Column]:
    """Late interaction: how well each word piece of the question is met by the turn's best word piece."""
    names = (
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
    scores = columns.token_scores
    if scores is None or not scores.size:
        return dict.fromkeys(names, np.zeros(len(columns.dense)))
    met = scores.astype(np.float64)
    idf = np.log1p((columns.active_count - columns.token_frequencies + 0.5) / (columns.token_frequencies + 0.5))
    weights = idf / max(float(idf.sum()), 1e-9)
    roots = np.sqrt(idf)
    roots /= max(float(roots.sum()), 1e-9)
    padded = np.concatenate([met, np.zeros((met.shape[0], 1))], axis=1)
    beside = np.maximum(padded[:, around.rows(-1)], padded[:, around.rows(1)])
    near = np.maximum(met, _NEIGHBOUR_SHARE * beside)
    rare = np.argsort(-idf, kind="stable")[:_RARE_TOKENS]
    deviations = np.maximum(met.std(axis=1, keepdims=True), 1e-6)
    standing_out = (met - met.mean(axis=1, keepdims=True)) / deviations
    columns_of = {
        "weighted": weights @ met,
        "plain": met.mean(axis=0),
        "near": roots @ near,
        "rare": met[rare].min(axis=0),
        "covered": weights @ (met >= _COVERED),
        "covered_near": weights @ (near >= _COVERED * _NEIGHBOUR_SHARE),
        "said": weights @ (met >= _SAID),
        "standing_out": weights @ standing_out,
        "best": standing_out.max(axis=0),
        "reverse": columns.reverse,
        "sentence": columns.sentence,
    }
    return {name: _standardised_among(columns_of[name], columns.has_tokens) for name in names}


def _combined(scores: dict[str, Column]) -> Iterator[_Named]:
    dense, lexical = scores["dense"], scores["lexical"]
    yield "lower_of_both", "lexical", np.minimum(dense, lexical)
    yield "higher_of_both", "dense", np.maximum(dense, lexical)


def _ranks(scores: dict[str, Column]) -> Iterator[_Named]:
    for name, column in scores.items():
        # From 1, equal scores alike, so that the order of the candidates does not matter.
        ranks = column.size + 1 - np.searchsorted(np.sort(column), column, side="right").astype(np.float64)
        for scale in _RANK_SCALES:
            yield f"{name}_rank_{scale:.0f}", name, scale / (scale + ranks) if column.any() else 0.0


def _neighbours(scores: dict[str, Column], columns: EpisodeColumns, around: Surroundings) -> Iterator[_Named]:
    openness = np.minimum(1.0, _OPEN_CHARS / np.maximum(columns.length, 1))
    asks = np.append((columns.traits & Trait.QUESTION) != 0, False).astype(np.float64)
    asked = asks[around.rows(-1)]
    for name, column in scores.items():
        padded = np.append(np.maximum(column, 0.0), 0.0)
        before, after = padded[around.rows(-1)], padded[around.rows(1)]
        second = padded[around.rows(-2)] + padded[around.rows(2)]
        third = padded[around.rows(-3)] + padded[around.rows(3)]
        yield f"{name}_before", "neighbours", before
        yield f"{name}_after", "neighbours", after
        yield f"{name}_second", "neighbours", second
        yield f"{name}_third", "neighbours", third
        yield f"{name}_beside_short", "neighbours", openness * (before + after)
        yield f"{name}_second_beside_short", "neighbours", openness * second
        yield f"{name}_answers", "answers", asked * before
        yield f"{name}_answers_short", "answers", openness * asked * before
    yield "answers", "answers", asked
    yield "is_answered", "answers", asks[:-1] * (around.rows(1) < len(columns.dense))


def _sessions(scores: dict[str, Column], columns: EpisodeColumns) -> Iterator[_Named]:
    count = int(columns.session.max(initial=0)) + 1
    for name, column in scores.items():
        best = np.full(count, -np.inf)
        np.maximum.at(best, columns.session, column)
        yield f"{name}_session", "session", best[columns.session]


def _speakers(columns: EpisodeColumns, question: QuestionEvidence) -> Iterator[_Named]:
    named = np.isin(columns.speaker, question.named_speakers).astype(np.float64)
    is_named = bool(question.named_speakers)
    by_assistant = (columns.traits & Trait.ASSISTANT != 0).astype(np.float64)
    yield "speaker_named", "speaker", named
    yield "speaker_other", "speaker", (1.0 - named) * is_named
    yield "by_user_if_about_user", "role", (1.0 - by_assistant) * question.about_user
    yield "by_assistant_if_about_assistant", "role", by_assistant * question.about_assistant
    yield "by_assistant", "role", by_assistant


def _time(time: npt.NDArray[np.float64], question: QuestionEvidence) -> Column:
    """1 inside a named range, less the farther outside, 0 without a time."""
    best = np.zeros(time.size)
    for span in question.time_ranges:
        late = np.maximum(time - span.end, 0.0) / (_DAYS_AFTER * _SECONDS_PER_DAY)
        early = np.maximum(span.start - time, 0.0) / (_DAYS_BEFORE * _SECONDS_PER_DAY)
        best = np.fmax(best, np.exp(-(late + early)))  # fmax: NaN is no evidence
    return best


def _derived(columns: EpisodeColumns) -> Iterator[_Named]:
    """What other tiers found that was made from the turn."""
    for name, part, column in (("fact", "facts", columns.fact), ("note", "notes", columns.note)):
        found = column.astype(np.float64) if column.size else np.zeros(len(columns.dense))
        yield name, part, found
        yield f"{name}_there", part, (found > 0).astype(np.float64)


def _kinds(columns: EpisodeColumns, question: QuestionEvidence) -> Iterator[_Named]:
    traits = {trait: (columns.traits & trait != 0).astype(np.float64) for trait in Trait}
    kinds = read_kinds(question.text)
    length = np.maximum(columns.length, 1).astype(np.float64)
    yield "length_log", "length", np.log(length)
    yield "pieces_log", "length", np.log2(np.ceil(length / _PIECE_CHARS))
    yield "is_short", "length", (length < _SHORT_CHARS).astype(np.float64)
    yield "opens_session", "kind", (columns.position == 0).astype(np.float64)
    yield "place_in_session", "kind", np.log1p(columns.position)
    yield "first_person_if_personal", "kind", traits[Trait.FIRST_PERSON] * question.is_personal
    yield "first_person_if_named", "kind", traits[Trait.FIRST_PERSON] * bool(question.named_speakers)
    for trait, column in traits.items():
        if trait is not Trait.ASSISTANT:
            yield f"is_{_word(trait)}", "kind", column
    user = 1.0 - traits[Trait.ASSISTANT]
    yield "instruction_of_user", "kind", traits[Trait.INSTRUCTION] * user
    yield "instruction_if_request", "kind", traits[Trait.INSTRUCTION] * user * (QuestionKind.REQUEST in kinds)
    for kind, trait in _CROSSED:
        yield f"{_word(trait)}_if_{_word(kind)}", "kind", traits[trait] * (kind in kinds)
    for kind in QuestionKind:
        yield f"length_log_if_{_word(kind)}", "length", np.log(length) * (kind in kinds)
    # The same for all candidates: nothing to a linear ranker, and what trees choose their branches by.
    for kind in QuestionKind:
        yield f"asks_{_word(kind)}", "question", float(kind in kinds)
    yield "asks_about_named", "question", float(len(question.named_speakers))
    yield "asks_about_user", "question", float(question.about_user)
    yield "asks_words", "question", float(len(question.text.split()))


_CROSSED: Final = (
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


def _word(member: Trait | QuestionKind) -> str:
    return (member.name or "").lower()


def _standardised(values: FloatColumn | Column) -> Column:
    wide = values.astype(np.float64)
    if not wide.size:
        return wide
    centred: Column = wide - wide.mean()
    deviation = float(np.sqrt(np.mean(centred * centred)))
    # Equal values say nothing; dividing their rounding errors would make them say something.
    return centred / deviation if deviation > 1e-9 else np.zeros_like(wide)


def _standardised_among(values: FloatColumn | Column, present: npt.NDArray[np.bool_]) -> Column:
    """The same over those that are present; the others are as good as the mean."""
    found = np.zeros(values.size)
    found[present] = _standardised(values[present])
    return found
