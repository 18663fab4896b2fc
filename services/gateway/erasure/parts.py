"""What goes with a thing that a query means: the hotel with "the trip to Norway", the cake with "my wedding to Tom".

A text that has the name of a query and a word of what goes with its topic is meant, though it lacks the topic's own
word. Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.belongings import GROUPS
from services.common.values.words.tokens import lemma

_MORE: Final = (
    (
        "trip holiday vacation journey cruise tour visit stay weekend getaway break excursion",
        (
            "hotel flight ticket "
            "fly train ferry cabin hostel apartment campsite luggage pack book booking stay guide itinerary return land"
        ),
    ),
    (
        "wedding marriage engagement proposal propose",
        "ring wedding marry propose proposal fiance fiancee husband wife bride groom engaged",
    ),
    (
        "project launch campaign product programme program",
        "team budget deadline ship release milestone sprint lead client prototype roadmap launch scope",
    ),
    ("relationship affair date dating crush romance", "kiss love date meet night text hotel dinner sleep"),
    ("lawsuit trial case court proceeding", "lawyer judge hearing court sue settlement witness verdict claim appeal"),
    ("surgery operation treatment therapy illness", "surgeon hospital scar dose ward nurse clinic session check"),
    (
        "application interview candidacy apply applied",
        "interview no yes offer reject rejection shortlist hire panel vacancy recruiter hear",
    ),
    ("job position post employer application", "interview boss salary offer contract apply recruiter shift colleague"),
)
"""Beside the groups of `belongings`: what is said of a matter that is named."""


@text_cache(256)
def _parts_of(topic: str) -> frozenset[str]:
    """Base forms of what goes with a thing."""
    return frozenset(
        lemma(word)
        for things, parts in (*GROUPS, *_MORE)
        if topic in {lemma(thing) for thing in things.split()}
        for word in parts.split()
    )


def goes_with(topics: Collection[str], words: Collection[str]) -> bool:
    """Returns whether a text has a word of what goes with one of the topics.

    Args:
        topics: Content words of a query, in base form.
        words: Those of the text.
    """
    known = {lemma(word) for word in words}
    return any(_parts_of(topic) & known for topic in topics)
