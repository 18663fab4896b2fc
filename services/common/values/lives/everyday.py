"""Changes told in other words: another way to work, a birth, what is not done any more. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.clauses import Clause
from services.common.values.words.lexicon import KIN
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma

_MODES: Final[Mapping[str, re.Pattern[str]]] = {
    mode: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for mode, words in (
        ("bus", "bus"),
        ("train", "train"),
        ("tram", "tram"),
        ("underground", "metro|subway|underground|tube"),
        ("ferry", "ferry"),
        ("car", "car|drive|drives|drove|carpool"),
        ("van", "van|minibus"),
        ("taxi", "taxi|cab"),
        ("bike", r"bike|bicycle|cycle|cycles|cycling|e-bike|(?:on|by)\s+two\s+wheels"),
        ("foot", r"walk|walks|walking|on\s+foot|(?:own\s+two\s+)feet"),
        ("scooter", "scooter|moped|vespa"),
        ("home", r"work\s+from\s+home|working\s+from\s+home"),
    )
}
_COMMUTE: Final = CachedPattern(
    r"\b(?:to|into|(?:arrive|arrived|turn\s+up|drops?\s+(?:me|us)|dropped\s+(?:me|us)|get)\s+at)\s+(?:the\s+|my\s+)?"
    r"(?P<where>work|office|desk|school|university|uni|campus|college|lab|clinic|shop|hospital|church|mass|nursery|kindergarten|town|training|practice|hospital|ward|studio|yard|factory|plant|workshop|site)\b",
    re.IGNORECASE,
)
_SAME_PLACES: Final = {
    "office": "work",
    "desk": "work",
    "uni": "university",
    "campus": "university",
    "ward": "hospital",
}
_ONCE: Final = re.compile(
    r"\b(?<!has\s)(?<!have\s)(?<!'s\s)(?:took|brought|dropped|carried)\s(?:me|us)\b", re.IGNORECASE
)
_AS_A_RULE: Final = re.compile(r"\b(?:since|now|nowadays|these\sdays|every)\b", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[,.;:]")
_SPEAKER: Final = CachedPattern(r"\b(?:i|i'm|we|me|us)\b", re.IGNORECASE)
_EXPECTS: Final = re.compile(
    r"\b(?:i'm|i\s+am|we're|we\s+are|my\s+(?:wife|partner|girlfriend)\s+is)\s+(?:\w+\s+)?(?:pregnant|expecting)\b",
    re.IGNORECASE,
)
_BORN: Final = re.compile(
    r"\b(?:our|my)\s+(?:\w+\s+)?(?:son|daughter|baby|twins|boy|girl)\b.{0,20}\b(?:was|were|is)\s+born\b|"
    r"\b(?:my\s+(?:wife|partner|girlfriend)|i|she)\s+gave\s+birth\b",
    re.IGNORECASE,
)
_NOT_ANY_MORE: Final = re.compile(
    r"^(?:i|we)\s+(?:(?:do\s+not|don't|dont)\s+(?P<verb>\w+)\s+(?P<what>[\w\s'-]{2,40}?)\s+any\s?(?:more|longer)|"
    r"no\s+longer\s+(?P<verb2>\w+)\s+(?P<what2>[\w\s'-]{2,40}))(?=[,.!;]|$)",
    re.IGNORECASE,
)
_WITHOUT: Final = re.compile(
    r"\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|thirty|forty|fifty|sixty|ninety|hundred|half|several|many)\s+"
    r"(?:an?\s+)?(?:whole\s+|full\s+)?(?:days?|weeks?|months?|years?)\s+(?:now\s+)?(?:without|off)\s+(?:an?\s+|any\s+|the\s+|single\s+)*(?:(?:drop|sip|cup|glass|bite|scrap|slice|spoonful)\s+of\s+)?"
    r"(?P<what>\w+)",
    re.IGNORECASE,
)
_HABIT: Final = re.compile(r"^\W*(?:\w+,\s+)?(?:i|we|i'm|i've)\b(?!.{0,20}\b(?:not|never|don't|no)\b)", re.IGNORECASE)
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("smoke", "smoking", "smoker", "cigarette", "cigar", "tobacco", "fag", "nicotine"), "smoke"),
    **dict.fromkeys(("alcohol", "drink", "drop", "wine", "beer", "booze", "whisky", "gin"), "alcohol"),
    **dict.fromkeys(("meat", "steak", "bacon", "burger", "sausage"), "meat"),
    **dict.fromkeys(("coffee", "espresso", "latte", "cappuccino", "americano", "caffeine"), "coffee"),
    **dict.fromkeys(("sweet", "sugar", "chocolate", "candy"), "sugar"),
}
"""Words for what people give up, by what it is."""


def goes_otherwise(earlier: str, later: str) -> bool:
    """Returns whether the speaker goes to one place in another way: "I take the bus to work", "I cycle to work"."""
    first, second = _COMMUTE.search(earlier), _COMMUTE.search(later)
    if first is None or second is None:
        return False
    places = [match["where"].casefold() for match in (first, second)]
    if len({_SAME_PLACES.get(place, place) for place in places}) > 1:
        return False
    if not (_SPEAKER.search(earlier) and _SPEAKER.search(later)):
        return False
    if _ONCE.search(later) and _AS_A_RULE.search(later) is None:
        return False  # "the bus took me to work, finally"
    old, new = _modes(earlier), _modes(later)
    return len(old) == len(new) == 1 and old != new


def commute_keys(text: str) -> frozenset[str]:
    """Returns the places to which a statement says how the speaker gets: so are two of one place found."""
    match = _COMMUTE.search(text)
    if match is None or _SPEAKER.search(text) is None or not _modes(text):
        return frozenset()
    place = match["where"].casefold()
    return frozenset({f"commute:{_SAME_PLACES.get(place, place)}"})


@text_cache(1_024)
def _modes(text: str) -> frozenset[str]:
    part = next(part for part in _CLAUSE_END.split(text) if _COMMUTE.search(part))
    return frozenset(mode for mode, pattern in _MODES.items() if pattern.search(part))


def is_born(earlier: str, later: str) -> bool:
    """Returns whether the child that was expected is born: "My wife is pregnant", "Our son was born this morning"."""
    return _EXPECTS.search(earlier) is not None and _BORN.search(later) is not None


def abstains(earlier: str, later: str) -> bool:
    """Returns whether the speaker goes without what they had: "I smoke a pack a day", "90 days without a cigarette".

    Args:
        earlier: A habit of the speaker.
        later: How long they have gone without it.
    """
    match = _WITHOUT.search(later)
    if match is None or _HABIT.search(earlier) is None:
        return False
    named = {_KINDS.get(word, word) for word in nouns_of(match["what"])}
    return bool(named) and named <= {_KINDS.get(word, word) for word in nouns_of(earlier)}


def is_left_out(clause: Clause, piece: str) -> bool:
    """Returns whether an item of a list is left out: "I play the violin and the flute", "I no longer play the flute".

    Args:
        clause: Of the earlier statement.
        piece: A clause of the later one.
    """
    match = _NOT_ANY_MORE.match(piece.strip())
    is_own = bool(set(clause.subject) & {"i", "we"}) and not set(map(str, clause.subject)) & KIN
    if match is None or clause.negated or not is_own:
        return False
    verb, gone = lemma((match["verb"] or match["verb2"]).casefold()), nouns_of(match["what"] or match["what2"])
    listed = clause.verb in {verb, "be", "have"} and "and" in clause.words
    known = {word for item in clause.rest for word in str(item).split()}
    return listed and bool(gone) and gone <= known
