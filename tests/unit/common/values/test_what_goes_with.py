"""Changes in other words: what goes with a state (`templates.toml`), who leaves their role, rivals that do the work."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation
from services.common.values.words.phrases import read_phrases

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)
_FIRST, _SECOND = date(2025, 2, 3), date(2025, 5, 12)


def _ends(earlier: str, later: str) -> bool:
    return supersedes(Said(earlier, "Ada", day=_FIRST), Said(later, "Ada", day=_SECOND)) in _ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I work at the harbour office.", "Handed in my pass on Friday."),
        ("I rent a room in Newcastle.", "Keys are back with the landlord."),
        ("I play tennis on Mondays.", "My racket went to my nephew."),
        ("Chidi goes to Westgate School.", "Chidi handed back his Westgate tie."),
        ("My father drives a bus in Porto.", "Dad parked his last bus on Friday."),
        ("I'm the treasurer of the rowing club.", "I handed the cash book to Olga."),
        ("I take antihistamine tablets every day.", "That was the last tablet."),
    ],
)
def test_spec_3_5_what_goes_with_a_state_ends_it(earlier: str, later: str) -> None:
    assert _ends(earlier, later)
    assert statement_keys(earlier) & statement_keys(later), "they would not be compared"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I play tennis on Mondays.", "My skis went to my nephew."),
        ("I play tennis on Mondays.", "I might sell my racket."),
        ("Chidi goes to Westgate School.", "Chioma handed back her Westgate tie."),
        ("My father drives a bus in Porto.", "My uncle parked his last bus on Friday."),
        ("I drive to work.", "The bus took me to work this morning."),
        ("My alarm rings at 5:30.", "On Saturday I opened my eyes at ten."),
        ("My wife works at Halden Marine.", "I handed in my badge at Halden Marine."),
        ("I'm engaged.", "The jeweller gave me back my ring, it fits now."),
    ],
)
def test_spec_3_5_what_goes_with_another_state_or_person_ends_nothing(earlier: str, later: str) -> None:
    assert not _ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My doctor is Dr Pell.", "Dr Pell has retired to Spain."),
        ("My team lead is Ingrid.", "Ingrid left for Legal last week."),
        ("My dentist is Dr Amsel.", "Dr Amsel sold her practice."),
        ("Mrs Hale looks after Isla on Wednesdays.", "Mrs Hale moved to Devon to be with her sister."),
        ("My Spanish teacher is Carmen.", "Carmen flew home to Chile in June."),
    ],
)
def test_spec_3_5_who_goes_away_has_their_role_no_more(earlier: str, later: str) -> None:
    assert _ends(earlier, later)
    assert statement_keys(earlier) & statement_keys(later), "they would not be compared"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My dentist is Dr Amsel.", "Dr Amsel sold me a toothbrush."),
        ("My team lead is Ingrid.", "Ingrid moved to the window seat."),
        ("I admire Carmen.", "Carmen flew home to Chile in June."),
    ],
)
def test_spec_3_5_who_is_away_for_a_while_or_has_no_role_keeps_what_they_are(earlier: str, later: str) -> None:
    assert not _ends(earlier, later)


def test_spec_3_5_two_things_can_be_learnt_at_a_time() -> None:
    assert not _ends("I'm learning the piano.", "I'm learning the violin now.")
    assert not _ends("I'm learning Spanish.", "I'm learning Greek now.")
    assert _ends("I'm learning the piano.", "I'm learning the violin instead of the piano.")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Our builds run on Jenkins.", "Woodpecker builds every branch."),
        ("We plan the sprints in Trello.", "The team drags its tickets around in Linear."),
        ("Our database is MySQL.", "The migration is through: every query hits Postgres."),
    ],
)
def test_spec_3_5_a_rival_that_does_the_work_takes_the_place(earlier: str, later: str) -> None:
    assert _ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We plan the sprints in Trello.", "The agency drags its tickets around in Linear."),
        ("I use Vim.", "I've returned from Emacs Camp."),
        ("Our database is MySQL.", "We looked at Postgres for the new project and dropped it."),
        ("Our builds run on Jenkins.", "A consultant says Jenkins is dead and everybody runs on Woodpecker."),
    ],
)
def test_spec_3_5_a_rival_elsewhere_takes_no_place(earlier: str, later: str) -> None:
    assert not _ends(earlier, later)


def test_spec_3_5_a_line_with_an_at_sign_stands_for_the_phrases_of_a_template() -> None:
    phrases = [phrase.text for phrase in read_phrases("@returned badge|pass\nquit~ my job")]
    assert "return~ the .. badge|pass" in phrases
    assert phrases[-1] == "quit~ my job"
