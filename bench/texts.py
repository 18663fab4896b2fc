"""Synthetic dialogue that reads like people talking, the same for the same seed.

Figures about speed need texts with the length, the vocabulary and the repetition of real talk; nothing about
recall quality is measured on them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.strip().splitlines())


_PEOPLE: Final = (
    *("Nora", "Emil", "Priya", "Tomas", "Aisha", "Jonas", "Mei", "Kwame", "Lucia", "Henrik"),
    *("Yusuf", "Clara", "Dmitri", "Farah", "Oscar", "Wanjiru", "Pavel", "Ines", "Rahul", "Greta"),
    *("Samir", "Hana", "Viktor", "Leila", "Bruno", "Sofia", "Anders", "Zola", "Mateo", "Ruth"),
)
_PLACES: Final = _lines("""
the old harbour
Lisbon
the community garden
our kitchen
the library on Mill Street
the northern trail
Krakow
the allotment
the swimming pool
the train station
my grandmother's house
the market hall
Oaxaca
the roof terrace
the workshop
the music school
the clinic
the lake cabin
Tbilisi
the climbing wall
the bakery
the office canteen
""")
_DOINGS: Final = _lines("""
repaired the blue bicycle
baked sourdough bread
finished the night shift
signed up for a pottery course
lost the keys
met an old colleague
planted tomatoes
ran the half marathon
practised the cello
adopted a grey cat
painted the hallway
watched a documentary about whales
booked the ferry
argued about the rent
learned to make dumplings
translated the contract
taught the children chess
went to the dentist
cleaned out the attic
rehearsed the play
sold the caravan
photographed the storm
started physiotherapy
volunteered at the shelter
rewrote the report
""")
_FEELINGS: Final = _lines("""
and it went better than I feared
which took the whole afternoon
and I am still tired from it
so I am rather proud of myself
although it rained all day
and everybody laughed
but next time I will ask for help
and it cost less than I thought
which my sister found hilarious
and now my back hurts
so we celebrated with soup
and I would do it again tomorrow
though I forgot half of the things
and the neighbours noticed
""")
_PLANS: Final = _lines("""
we should try that together
I want to go back there
I will bring the photos
let us call {person} about it
I have to return the ladder first
{person} promised to help
I might write about it
the tickets are already paid
I need a new pair of boots before that
{person} knows a good place for it
we could invite {person} as well
""")
_WHENS: Final = _lines("""
yesterday
last weekend
on Tuesday
this morning
two weeks ago
in March
right after work
on my birthday
before the holidays
the day the power went out
last night
in the summer
""")
_OPENERS: Final = (
    "",
    "",
    "",
    "",
    "Oh, ",
    "Well, ",
    "Honestly, ",
    "Believe it or not, ",
    "By the way, ",
    "So, ",
)
_QUESTIONS: Final = _lines("""
When was it that {person} {doing}?
Who {doing} {at_place}?
What happened {at_place} {when}?
Did {person} ever say why they {doing}?
Which plans did {person} have {when}?
How did it go when {person} {doing} {at_place}?
Where was {person} {when}?
What did we agree about {place}?
""")
_REPLIES: Final = _lines("""
That sounds wonderful, tell me more about it.
Wow, I had no idea.
How did {person} take it?
Good for you!
I thought about that all week.
And what happened then?
Thanks for telling me.
""")
_REPLY_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True)
class SyntheticTurn:
    """One turn of synthetic talk."""

    speaker: str
    text: str


class TextSource:
    """An endless source of turns and questions. The same seed gives the same sequence."""

    def __init__(self, seed: int) -> None:
        """Seed the source."""
        self._random = random.Random(seed)

    def turn(self) -> SyntheticTurn:
        """The next turn: 20 to 300 characters, now and then a short reply only."""
        pick = self._random.choice
        if self._random.random() < _REPLY_SHARE:
            return SyntheticTurn(pick(_PEOPLE), pick(_REPLIES).format(person=pick(_PEOPLE)))
        parts = [f"{pick(_OPENERS)}{self._event()}."]
        if self._random.random() < 0.5:
            parts.append(f"{self._plan()}.")
        if self._random.random() < 0.25:
            parts.append(f"{self._event()}, for {self._random.randint(2, 950)} minutes or so.")
        return SyntheticTurn(pick(_PEOPLE), " ".join(parts))

    def turns(self, count: int) -> Iterator[SyntheticTurn]:
        """The next `count` turns."""
        return (self.turn() for _ in range(count))

    def question(self) -> str:
        """The next question, 30 to 110 characters."""
        pick = self._random.choice
        place = pick(_PLACES)
        return pick(_QUESTIONS).format(
            person=pick(_PEOPLE),
            doing=pick(_DOINGS),
            place=place,
            at_place=f"at {place}",
            when=pick(_WHENS),
        )

    def _event(self) -> str:
        pick = self._random.choice
        who = pick(("I", "I", "I", "we", *_PEOPLE[:6]))
        return f"{who} {pick(_DOINGS)} at {pick(_PLACES)} {pick(_WHENS)} {pick(_FEELINGS)}"

    def _plan(self) -> str:
        plan = self._random.choice(_PLANS).format(person=self._random.choice(_PEOPLE))
        return plan[0].upper() + plan[1:]
