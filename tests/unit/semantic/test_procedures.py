"""Procedures: confidence, identity, and what rewritings are learned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.semantic.config import ProcedureSettings
from services.semantic.procedures.learning import defined, is_abbreviation, rephrased
from services.semantic.procedures.model import ProcedureDraft, ProcedureKind, confidence_of, with_outcome

SETTINGS = ProcedureSettings()
_COUNTS = st.integers(0, 1_000)


def learned(bad: str, good: str) -> tuple[str, str] | None:
    draft = rephrased(bad, good, scope_key="1", settings=SETTINGS)
    return None if draft is None else (draft.trigger, draft.action)


@given(_COUNTS, _COUNTS, st.floats(0, 1))
def test_spec_3_9_confidence_is_the_share_of_successes_within_bounds(
    success: int, failure: int, initial: float
) -> None:
    confidence = confidence_of(success, failure, initial=initial, learning_rate=0.1)
    assert 0.0 <= confidence <= 1.0
    if success + failure > 1:
        assert confidence == success / (success + failure)
    if success + failure == 1:
        assert abs(confidence - initial) <= 0.1


@given(st.lists(st.sampled_from((-1, 0, 1)), max_size=8), st.permutations(range(8)))
def test_spec_3_9_the_order_of_outcomes_and_changed_judgements_do_not_matter(
    judgements: list[int], order: list[int]
) -> None:
    counts = (0, 0)
    for index in (i for i in order if i < len(judgements)):
        counts = with_outcome(counts, -1, before=0)
        counts = with_outcome(counts, judgements[index], before=-1)
    assert counts == (judgements.count(1), judgements.count(-1))


@pytest.mark.parametrize(
    ("bad", "good", "expected"),
    [
        ("ML papers", "machine learning papers", ("ML", "machine learning")),
        ("papers on ML?", "Papers on machine learning", ("ML", "machine learning")),
        ("which sofa did I buy", "Which couch did I buy?", ("sofa", "couch")),
        ("deploy the k8s cluster", "deploy the kubernetes cluster", None),  # the number 8 is lost
        ("ML", "machine learning", None),  # nothing shows that the same was asked
        ("flights at 08:25 to Rome", "flights at 09:25 to Rome", None),
        ("what did I eat", "what did I not eat", None),
        ("foods I like", "foods I don't like", None),
        ("where does Anna live", "where does Ben live", None),
        ("who is the boss", "when is the boss", None),  # another question
        ("ML papers", "ML papers", None),
        ("ML papers by Anna", "machine learning papers by Ben", None),
        ("a b c d e cats", "f g h i j cats", None),  # too much has changed
        ("", "", None),
    ],
)
def test_spec_3_9_a_rewriting_is_learned_only_where_the_same_was_asked(
    bad: str, good: str, expected: tuple[str, str] | None
) -> None:
    assert learned(bad, good) == expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_queries_can_be_compared(bad: str, good: str) -> None:
    found = learned(bad, good)
    assert found is None or all(part.strip() for part in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I work on machine learning (ML).", [("ML", "machine learning")]),
        ("The ministry of health (MoH) met", [("MoH", "ministry of health")]),
        ("Use integration tests (IT); unit tests (UTs).", [("IT", "integration tests"), ("UT", "unit tests")]),
        ("Call me (ASAP)", []),
        ("I met Tom (OK)", []),
        ("machine learning (see chapter 3)", []),
        ("the papers (ML)", []),
        ("(ML)", []),
    ],
)  # fmt: skip
def test_spec_3_9_abbreviations_are_read_where_their_letters_begin_the_words_before(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert [(one.trigger, one.action) for one in defined(text, scope_key="1", settings=SETTINGS)] == expected


@pytest.mark.parametrize(
    ("trigger", "action", "expected"),
    [
        ("ML", "machine learning", True),
        ("sofa", "couch", False),
        ("M", "machine", False),
        ("ML", "deep learning", False),
    ],
)
def test_an_abbreviation_is_spelled_out_by_its_letters(trigger: str, action: str, expected: bool) -> None:
    assert is_abbreviation(ProcedureDraft(ProcedureKind.QUERY_REWRITING, trigger, action)) is expected
