"""Posts, wishes and orders that are said again with another holder, time or way."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)
_DAY = date(2025, 1, 6)


def ends(earlier: str, later: str, *, days: int = 60) -> bool:
    return supersedes(Said(earlier, "Ada", day=_DAY), Said(later, "Ada", day=_DAY + timedelta(days=days))) in _ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Incident commander for payments is Olu.", "Incident commander for payments is Marit."),
        ("The captain of the B team is Ann.", "The captain of the B team is Ben now."),
        ("Release manager: Ann.", "Release manager: Ben."),
        ("Team lead - Priya.", "Team lead - Karim."),
        ("I see Dr Lam for my back.", "I see Dr Roe for my back now."),
        ("If anybody needs to ring around: my vet is Dr Lam.", "My vet is Dr Roe, same practice."),
    ],
)
def test_spec_3_5_a_post_has_another_holder(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The captain of the B team is Ann.", "The captain of the A team is Ben."),
        ("A friend of my sister is Ann.", "A friend of my sister is Ben."),
        ("One reviewer of the paper is Ann.", "One reviewer of the paper is Ben."),
        ("Team lead - Priya.", "Deputy team lead - Karim."),
        ("I see Dr Lam for my back.", "I see Dr Roe for my eyes."),
        ("Incident commander for search is Olu as well.", "Incident commander for payments is Marit."),
    ],
)
def test_spec_3_5_another_post_leaves_a_holder(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I want the daily digest at 8 in the morning.", "I want the daily digest at 17:30."),
        ("I want the report in German.", "I want the report in French."),
        ("Please read to me in the slow voice.", "Please read to me in the fast voice."),
        ("Please read to me in the fast voice.", "Let us return to the slow voice, there is no prize for speed."),
        ("These days I like running in the evening, it's too icy.", "I like running in the morning after all."),
        ("The nursery opens later, so I'd like my talks in the afternoon.", "I'd like my talks in the morning again."),
        ("I want the daily digest at 17:30.", "Back to the old time for the daily digest, 8 in the morning."),
    ],
)
def test_spec_3_5_the_same_is_wanted_otherwise(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I want the daily digest at 8 in the morning.", "I want the weekly report at 17:30."),
        ("I want the daily digest at 8 in the morning.", "I want the daily digest at 08:00."),
        ("I want the cost report at 17:30.", "Back to the old time for the daily digest, 8 in the morning."),
        ("Please read to me in the fast voice.", "We return to the old house in May."),
        ("My sister likes the fast train.", "Let us return to the slow train."),
        ("I like the museum in Ghent.", "I like the museum in Ulm."),
        ("I like running in the morning.", "I like swimming in the evening now."),
        ("Please read to me in the slow voice.", "Please read to my son in the slow voice."),
    ],
)
def test_spec_3_5_another_wish_leaves_a_wish(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later", "days"),
    [
        ("my next shift starts the day after tomorrow, so no calls", "my next shift starts on monday", 1),
        ("compiler exam is on this saturday", "university shifted it, compiler exam is on saturday the 15th", 1),
        ("The release is in three weeks.", "The release is in two weeks.", 1),
        ("The release is in three weeks.", "The release is in five weeks now.", 7),
    ],
)  # fmt: skip
def test_spec_3_5_something_is_on_another_day(earlier: str, later: str, days: int) -> None:
    assert ends(earlier, later, days=days)


def test_spec_3_5_one_day_named_twice_is_one_day() -> None:
    assert not ends("The release is in three weeks, we told the board.", "The release is in two weeks.", days=7)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Q4 cloud budget is 48k euros", "Q3 cloud budget is 41k euros."),
        ("Server finke has 64 GB and sits in rack 9.", "Server falke has 128 GB and sits in rack 7."),
        ("Reviewers of the ledger repository: Saskia and Miro.", "Take Saskia off the billing list please."),
        ("Bugs go to Mirela.", "Mirela is off sick for some weeks."),
        ("The scarf takes two balls and size 5 needles.", "The cardigan takes nine balls, size 4 needles and buttons."),
        ("The best way to reach me is my landline.", "For these days the best way to reach me is the hotel."),
        ("Ignatz has a key to our house.", "Ignatz left for lunch."),
        ("My brother has a key to the house.", "Ignatz left the company today."),
        ("I work at Veltron.", "Last day at the beach today."),
    ],
)
def test_spec_3_5_another_thing_of_the_kind_changes_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My daughter lives in Bergen.", "Aunt Ida goes about telling everyone that my daughter is moving to Tromso."),
        ("We close on Mondays.", "We are toying with Tuesday as our closing day instead."),
        ("My daughter lives in Bergen.", "Rumour has it my daughter moved to Tromso."),
    ],
)  # fmt: skip
def test_spec_3_5_hearsay_and_toying_with_an_idea_end_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("With the new magnifier I can read 14-point print without trouble.", "I can't read 14-point print any more."),
        ("Until Mirela is back, bugs go to Stellan.", "Mirela is back, bugs are hers again."),
        ("I live alone.", "I live with Sam now."),
        ("I live with Sam.", "I live alone now."),
        ("I live alone.", "Sam moved in with me."),
        ("im vegan", "i eat meat again"),
        ("I sprained my ankle, so I can't run at the moment.", "The ankle has healed."),
        ("On the allotment I have leeks, beetroot and beans.", "I dug the beetroot out, blight."),
        ("The committee consists of Mrs Ash, Mr Bell and Ms Cole.", "Mr Bell has stepped down from the committee."),
        ("The bridge club meets on Thursdays.", "The members resolved last night to dissolve the bridge club."),
        ("For Larkspur we meet every Tuesday.", "The board killed Larkspur an hour ago."),
        ("Ignatz has a key to the server room.", "Ignatz left the company today."),
        ("Veltron also pays my gym.", "Last day at Veltron today."),
        ("The bakery opens at five.", "After thirty years the bakery is closed for good."),
    ],
)
def test_spec_3_5_what_is_no_more_or_over_ends(earlier: str, later: str) -> None:
    assert ends(earlier, later)


def test_spec_3_5_what_others_do_with_their_home_leaves_the_speakers() -> None:
    assert not ends("I live alone.", "My brother lives with Sam now.")
