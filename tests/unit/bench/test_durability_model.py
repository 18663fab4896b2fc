"""The verdict on stores after kills: each kind of damage is seen, and a sound store passes."""

from dataclasses import replace

import pytest

from bench.durability_model import (
    Call,
    Derived,
    DurabilityReport,
    LoggedTurn,
    Verdict,
    check_derived,
    check_episodes,
    check_log,
    check_window,
    erased_ids,
)


def _call(request_id: str, *interaction_ids: str, turns: int = 2) -> Call:
    return Call(
        request_id=request_id,
        user_id="u",
        conversation_id="c",
        texts=tuple(f"text {number}" for number in range(turns)),
        repeats=True,
        attempts=1,
        interaction_ids=interaction_ids,
    )


def _log(*markers: str) -> list[LoggedTurn]:
    return [
        LoggedTurn(
            interaction_id=f"i{place}",
            user_id="u",
            conversation_id="c",
            position=place,
            marker=marker,
            content=f"text {place}",
        )
        for place, marker in enumerate(markers)
    ]


def _log_verdict(calls: list[Call], log: list[LoggedTurn]) -> dict[str, int]:
    verdict = Verdict()
    check_log(calls, log, verdict)
    return dict(verdict.counts)


def test_a_sound_log_passes() -> None:
    assert _log_verdict([_call("a", "i0", "i1"), _call("b")], _log("a#0", "a#1")) == {}


def test_an_unacknowledged_call_may_be_there_entirely() -> None:
    assert _log_verdict([_call("a")], _log("a#0", "a#1")) == {}


def test_an_unacknowledged_call_may_not_be_there_in_part() -> None:
    assert _log_verdict([_call("a")], _log("a#0")) == {"half": 1}


def test_an_acknowledged_turn_that_is_missing_is_lost() -> None:
    assert _log_verdict([_call("a", "i0", "i1")], _log("a#0")) == {"lost": 1}


def test_an_acknowledged_turn_under_another_id_is_lost() -> None:
    assert _log_verdict([_call("a", "i0", "other")], _log("a#0", "a#1")) == {"lost": 1}


def test_a_turn_written_twice_is_duplicated() -> None:
    assert _log_verdict([_call("a", "i0", "i1")], _log("a#0", "a#1", "a#0")) == {"duplicated": 1}


def test_a_repeat_that_was_told_other_ids_is_duplicated() -> None:
    call = _call("a", "i0", "i1")
    call.conflicting_answers = 1

    assert _log_verdict([call], _log("a#0", "a#1")) == {"duplicated": 1}


def test_a_turn_that_nobody_wrote_is_half_there() -> None:
    assert _log_verdict([], _log("a#0")) == {"half": 1}


def test_gaps_in_positions_are_seen() -> None:
    first, second = _log("a#0", "a#1")

    assert _log_verdict([_call("a", "i0", "i1")], [first, replace(second, position=3)]) == {"half": 1}


def test_erased_turns_may_be_missing_and_leave_gaps() -> None:
    first, second, third = _log("a#0", "a#1", "b#0")
    call = _call("a", "i0", "i1")
    call.erased = {"a#1"}

    assert _log_verdict([call, _call("b", "i2", turns=1)], [first, third]) == {}
    assert _log_verdict([call, _call("b", "i2", turns=1)], [first, second, third]) == {"returned": 1}
    assert _log_verdict([call, _call("b", "i2", turns=1)], [third]) == {"lost": 1}


def test_what_was_made_of_an_erased_turn_has_returned() -> None:
    call = _call("a", "i0", "i1")
    call.erased = {"a#1"}
    assert erased_ids([call, _call("b")]) == {"i1"}

    verdict = Verdict()
    check_episodes(_log("a#0"), ["i0", "i1"], verdict, erased={"i1"})
    check_derived(_log("a#0"), [_derived("n", "i0", "i1")], verdict, erased={"i1"})
    assert dict(verdict.counts) == {"returned": 2}


@pytest.mark.parametrize(("window", "expected"), [(["i2"], {}), (["i1", "i2"], {}), (["i1"], {"half": 1})])
def test_a_window_of_which_turns_were_erased_may_be_shorter(window: list[str], expected: dict[str, int]) -> None:
    verdict = Verdict()
    check_window(_log("a#0", "a#1", "a#2"), window, size=2, verdict=verdict, is_shortened=True)

    assert dict(verdict.counts) == expected


@pytest.mark.parametrize(
    ("episodes", "expected"),
    [
        (["i1", "i0"], {}),
        (["i0"], {"lost": 1}),
        (["i0", "i1", "i1"], {"duplicated": 1}),
        (["i0", "i1", "x"], {"half": 1}),
    ],
)
def test_episodes_are_one_for_each_interaction(episodes: list[str], expected: dict[str, int]) -> None:
    verdict = Verdict()
    check_episodes(_log("a#0", "a#1"), episodes, verdict)

    assert dict(verdict.counts) == expected


def _derived(identifier: str, *sources: str, text: str = "likes tea") -> Derived:
    return Derived("note", identifier, "u", text, sources)


@pytest.mark.parametrize(
    ("derived", "expected"),
    [
        ([_derived("n", "i0"), _derived("m", "i1")], {}),
        ([_derived("n", "i0"), _derived("m", "i0", text="likes rain")], {}),
        ([_derived("n", "i0"), _derived("m", "i0")], {"duplicated": 1}),
        ([_derived("n", "i0", "i0")], {"duplicated": 1}),
        ([_derived("n", "i0", "x")], {"half": 1}),
    ],
)
def test_what_is_derived_knows_its_sources_once(derived: list[Derived], expected: dict[str, int]) -> None:
    verdict = Verdict()
    check_derived(_log("a#0", "a#1"), derived, verdict)

    assert dict(verdict.counts) == expected


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (["i1", "i2"], {}),
        (["i2", "i1"], {"half": 1}),
        (["i2"], {"half": 1}),
        (["i2", "i2"], {"duplicated": 1}),
    ],
)
def test_the_window_is_the_end_of_the_log(window: list[str], expected: dict[str, int]) -> None:
    verdict = Verdict()
    check_window(_log("a#0", "a#1", "a#2"), window, size=2, verdict=verdict)

    assert dict(verdict.counts) == expected


def test_only_a_report_without_damage_is_clean() -> None:
    report = DurabilityReport(
        kills=1,
        kills_by_variant={},
        calls=1,
        repeated=0,
        acknowledged=1,
        unacknowledged=0,
        stored=1,
        lost=0,
        duplicated=0,
        half=0,
        returned=0,
        audit=0,
        erasures=1,
        erased=1,
        imports=1,
        jobs=1,
        audit_entries=1,
        unexpected={},
        converge_seconds=0.0,
        restart_seconds=(),
        problems=(),
    )

    assert report.is_clean
    assert not replace(report, lost=1).is_clean
    assert not replace(report, duplicated=1).is_clean
    assert not replace(report, half=1).is_clean
    assert not replace(report, returned=1).is_clean
    assert not replace(report, audit=1).is_clean
