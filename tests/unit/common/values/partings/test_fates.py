"""Events after which something is no more, put into a plain sentence (SPEC 3.5): "frost killed the dahlias"."""

from __future__ import annotations

from datetime import date
from typing import Final

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.model import Relation
from services.common.values.partings.fates import fates_told

_ENDS: Final = {Relation.UPDATE, Relation.CONTRADICT}


def _ends(earlier: str, later: str) -> bool:
    first, second = Said(earlier, "Ada", day=date(2025, 1, 8)), Said(later, "Ada", day=date(2025, 5, 12))
    return supersedes(first, second) in _ENDS and bool(statement_keys(earlier) & statement_keys(later))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I water the dahlias on Wednesdays.", "Frost killed the dahlias on Monday night."),
        ("The tub for the ducks is behind the barn.", "A marten has killed the ducks."),
        ("The keys of the Zafira hang by the door.", "A lorry flattened the Zafira."),
        ("The Zafira is booked in for new brakes.", "The Zafira is scrap."),
        ("The spare blades for the mower are on the shelf.", "The mower went to the tip."),
        ("I feed Pickles at seven.", "The vet put Pickles down."),
        ("Pickles has a place in our bed.", "Pickles never came home."),
        ("Metrics of osprey go to the big screen.", "We took osprey out of service."),
        ("The budget for Larkspur is 40k.", "The investors pulled out of Larkspur."),
        ("Tuesdays at nine I meet Bo about Larkspur.", "Funding for Larkspur was withdrawn."),
        ("We sleep two nights in Ghent.", "No Ghent this summer."),
        ("I ordered a stroller; the cake for the party is from Rossi.", "The party won't happen."),
        ("On Mondays I lunch in the Dorn canteen.", "Dorn showed me the door."),
        ("My Dorn laptop is a ThinkPad.", "My contract with Dorn ran out."),
        ("The car sits in the garage at Elm Road.", "The keys for Elm Road are handed over."),
        ("Jonas and I go to Crete in May.", "Jonas and I aren't a couple any more."),
        ("Jonas has my spare key.", "Jonas met somebody else."),
        ("Our cleaner Agata has a key to the shed.", "Agata moved back to Lublin."),
        ("My seminar paper for botany is due on 5 May.", "I deregistered from botany."),
        ("The choir is Bea, Otto, Wim and me.", "Wim has moved to Bergen."),
        ("Our squad: Bea, Otto and Wim.", "Otto is on another team now."),
        ("Approvers for the vault are Bea, Otto and Wim.", "Bea has resigned."),
        ("Lia does ballet, chess and fencing.", "Lia handed back her fencing gloves."),
        ("We stop at Kandy, Ella and Galle.", "Ella is fully booked, so we stay in Haputale instead."),
        ("I'm allergic to shrimps, celery and mustard.", "Celery is fine now, the test says."),
        ("This year I grow peas, chard and kale.", "Caterpillars ate the kale."),
    ],
)
def test_spec_3_5_an_event_ends_what_it_is_told_of(earlier: str, later: str) -> None:
    assert _ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I water the dahlias on Wednesdays.", "Frost killed the roses."),
        ("I water the dahlias on Wednesdays.", "Frost almost killed the dahlias."),
        ("The neighbours have ducks.", "A marten has killed the ducks."),
        ("My brother's Zafira is in the yard.", "A lorry flattened our hedge."),
        ("The Zafira is booked in for new brakes.", "The Zafira is not scrap."),
        ("The spare blades for the mower are on the shelf.", "The mower went to the repair shop."),
        ("I feed Pickles at seven.", "The vet put Pickles on a diet."),
        ("I feed Pickles at seven.", "The dog gets half a tablet."),
        ("Metrics of osprey go to the big screen.", "We took osprey out of the group photo."),
        ("The budget for Larkspur is 40k.", "The investors pulled out of Foxglove."),
        ("The budget for Larkspur is 40k.", "The board wants to stop Larkspur."),
        ("The budget for Larkspur is 40k.", "If the board stops Larkspur, I quit."),
        ("We sleep two nights in Ghent.", "No Bruges this summer."),
        ("On Mondays I lunch in the Dorn canteen.", "Dorn renewed my contract."),
        ("My sister works at Dorn.", "Dorn showed me the door."),
        ("The car sits in the garage at Elm Road.", "I gave the keys for Elm Road to the plumber for the day."),
        ("Jonas and I go to Crete in May.", "Jonas and Ida aren't a couple any more."),
        ("My dentist is called Jonas.", "Jonas and I got divorced in April."),
        ("Jonas likes olives.", "Jonas quit."),
        ("Agata is my best friend.", "Agata has found a new job."),
        ("My best friends are Bea, Otto and Wim.", "Otto is on another team now."),
        ("The choir is Bea, Otto, Wim and me.", "Wim left the stage early on Sunday."),
        ("Lia does ballet, chess and fencing.", "Max handed back his fencing gloves."),
        ("Lia does ballet, chess and fencing.", "Lia handed back her library books."),
        ("We stop at Kandy, Ella and Galle.", "Ella is full of tourists."),
        ("I like shrimps, celery and mustard.", "Celery is fine now."),
        ("I can't eat shrimps, celery or mustard.", "Everything is fine now."),
        ("This year I grow peas, chard and kale.", "Caterpillars ate the neighbour's kale."),
        ("I have a cat and a dog.", "The dog eats kibble."),
        ("I go to the gym on Mondays.", "The gym is closed on Tuesday, so we run instead."),
        ("I see Dr Amsel on Fridays.", "Dr Amsel is fully booked this week."),
    ],
)
def test_spec_3_5_an_event_of_something_else_ends_nothing(earlier: str, later: str) -> None:
    assert not _ends(earlier, later)


def test_spec_3_5_an_event_is_put_into_a_plain_sentence() -> None:
    assert fates_told("Sadly, slugs ate all the lettuces.") == ("the lettuces is gone",)
    assert fates_told("Did slugs eat the lettuces?") == ()
    assert fates_told("I want to unenrol from botany.") == ()
