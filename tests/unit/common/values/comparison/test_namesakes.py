"""Two people of one name."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.comparison.namesakes import are_namesakes, with_bare_names
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation

ENDS = {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My brother Jan lives in Antwerp.", "My friend Jan moved to Brussels."),
        ("My dog Max sleeps in the kitchen.", "My nephew Max sleeps in the attic now."),
        ("Jan, my brother, lives in Antwerp.", "My colleague Jan moved to Brussels."),
        ("Ada's brother Jan lives in Antwerp", "Ada's friend Jan lives in Brussels"),
    ],
)
def test_spec_3_5_two_people_of_one_name_end_nothing_of_each_other(earlier: str, later: str) -> None:
    assert are_namesakes(earlier, later)
    one, other = Said(earlier, "Ada", day=date(2025, 1, 6)), Said(later, "Ada", day=date(2025, 3, 12))
    assert supersedes(one, other) not in ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My brother Jan lives in Antwerp.", "Jan moved to Brussels."),
        ("My brother Jan lives in Antwerp.", "My twin Jan moved to Brussels."),
        ("My mum Ann lives in Hull.", "My mother Ann moved to Leeds."),
        ("My friend Jan lives in Antwerp.", "My boyfriend Jan moved to Brussels."),
        ("My brother Jan lives in Antwerp.", "My brother Piet moved to Brussels."),
    ],
)
def test_spec_3_5_one_person_may_be_named_otherwise(earlier: str, later: str) -> None:
    assert not are_namesakes(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Our maid Sunita comes at 7 in the morning.", "From today Sunita comes at 11."),
        ("My colleague Priya sits by the window.", "Priya sits in the annexe now."),
        ("Sunita comes at 7 in the morning.", "Our maid Sunita comes at 11 now."),
    ],
)
def test_spec_3_5_who_somebody_is_need_not_be_said_again(earlier: str, later: str) -> None:
    one, other = Said(earlier, "Ada", day=date(2025, 1, 6)), Said(later, "Ada", day=date(2025, 3, 12))
    assert supersedes(one, other) in ENDS


def test_spec_3_5_the_role_stays_where_the_other_statement_is_about_somebody_else() -> None:
    pair = "My brother Tom lives in Rome.", "I moved out of Tom's flat."
    assert with_bare_names(*pair) == pair
    one, other = Said(pair[0], "Ada", day=date(2025, 1, 6)), Said(pair[1], "Ada", day=date(2025, 3, 12))
    assert supersedes(one, other) not in ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Our maid Sunita comes at 7.", "From today my aunt Sunita comes at 11."),
        ("My tutor Wim comes on Mondays.", "Wim comes on Thursdays as well now."),
        ("Nina babysits on Fridays.", "My colleague Nina has moved to Leeds."),
        ("My sister Ilse does our taxes.", "Ilse quit on Monday."),
    ],
)
def test_spec_3_5_who_somebody_is_stays_where_it_matters(earlier: str, later: str) -> None:
    assert with_bare_names(earlier, later) == (earlier, later)
