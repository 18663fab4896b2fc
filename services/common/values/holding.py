"""Whether a later statement of a conversation ends an earlier one (SPEC 3.5).

`compare` reads two statements as they stand. In a conversation there is more to know: who speaks, whether the turn
announces a change, and that a sentence has more clauses than the one that matters. Every rule demands the same subject
or the thing itself, and none holds for what is hedged, reported, conditional or asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from services.common.values.comparison.compare import relation
from services.common.values.comparison.designated import are_two_designated
from services.common.values.comparison.namesakes import with_bare_names
from services.common.values.comparison.slots import is_denied, is_replaced
from services.common.values.denial.conditions import passes_over
from services.common.values.denial.denials import denies, happens_after_all
from services.common.values.denial.plain_denials import denies_plainly
from services.common.values.denial.restoring import is_so_after_all
from services.common.values.denial.retractions import is_retracted
from services.common.values.denial.reversals import is_reversed
from services.common.values.denial.topics import requantifies
from services.common.values.lives.asked import answers_anew
from services.common.values.lives.beginnings import lives_on
from services.common.values.lives.everyday import abstains, goes_otherwise, is_born, is_left_out
from services.common.values.lives.passing import is_over
from services.common.values.lives.states import has_another_state
from services.common.values.lives.until import is_fulfilled
from services.common.values.model import Relation
from services.common.values.partings.closings import is_closed
from services.common.values.partings.ended import has_ended
from services.common.values.partings.endings import goes_with_it
from services.common.values.partings.fates import fates_told, may_end
from services.common.values.partings.given_up import is_given_up
from services.common.values.partings.items import is_left_of_several, loses_an_item
from services.common.values.partings.journeys import is_for_nothing
from services.common.values.partings.leaving import is_left_behind
from services.common.values.partings.members import is_out
from services.common.values.partings.weekdays import frees_a_weekday
from services.common.values.reading.clauses import CHARS_MAX, Clause
from services.common.values.reading.coordinated import later_deeds
from services.common.values.reading.lasting import as_present
from services.common.values.reading.openers import without_opener
from services.common.values.reading.people import FIRST, OTHERS
from services.common.values.reading.pieces import Read, read_statement
from services.common.values.reading.rewording import (
    as_own,
    in_plain_words,
    with_apostrophes,
    with_days_alike,
    with_full_name,
    with_own_noun,
    with_plain_times,
    without_cause,
)
from services.common.values.reading.unreal import is_unreal
from services.common.values.reading.whose import people_in
from services.common.values.replacement.assigned import is_given_another
from services.common.values.replacement.contrasts import has_another_value
from services.common.values.replacement.days import rescheduled
from services.common.values.replacement.doers import is_done_by_another
from services.common.values.replacement.listing import is_exchanged, is_listed_anew
from services.common.values.replacement.means import goes_by_other_means
from services.common.values.replacement.measures import is_measured_anew
from services.common.values.replacement.platforms import runs_elsewhere
from services.common.values.replacement.shifting import is_set_anew
from services.common.values.replacement.succession import begins, succeeds, was_so
from services.common.values.restatement.cores import is_said_otherwise
from services.common.values.restatement.countermands import is_countermanded
from services.common.values.restatement.frames import is_stated_anew, main_part, takes_another_end
from services.common.values.restatement.orders import are_opposed, in_plain_form, is_lifted, is_taken_off
from services.common.values.restatement.restated import gives_another_number, goes_back_to_another_number
from services.common.values.restatement.roles import is_held_by_another
from services.common.values.restatement.shortened import is_corrected_in_short
from services.common.values.restatement.titled import is_titled_anew
from services.common.values.restatement.wishes import is_wanted_otherwise
from services.common.values.ruling_out import are_of_two_times, ruled_out
from services.common.values.words.fields import CHANGED
from services.common.values.words.newness import plainly
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.unsure import REPORTED, UNSURE

_WITH_NEW: Final = CachedPattern(
    r"^new\s+\w+\s*[:,]|\b(?:with|since|thanks\s+to|because\s+of|after)\s+(?:the|my|our|a|an)\s+new\b", re.IGNORECASE
)
"""Says that something about the matter is new: "new schedule: ...", "with the new oven ..."."""
_AFTER_THAT: Final = CachedPattern(r"^(?:after|following|as\s+of|starting|beginning)\s+the\s+\w+", re.IGNORECASE)
"""Opens what has changed by an event: "after the sale my landlord is ..."."""
_RESULT: Final = CachedPattern(r",\sso\s(?:from\snow\son\s)?(?=(?:i|i'm|i've|we|we're|we've|my|our)\s)", re.IGNORECASE)
_ENDS: Final = frozenset({Relation.UPDATE, Relation.CONTRADICT})
_NEVER: Final = CachedPattern(r"\b(?:i|we)(?:'ve|\s+have)\s+never\b", re.IGNORECASE)
_WILL: Final = re.compile(
    r"\b(?:i|we)(?:'ll|'m\s+going\s+to|'re\s+going\s+to|\s+(?:will|shall|want\s+to|plan\s+to))\b", re.IGNORECASE
)
_OWN_THING: Final = re.compile(r"^(?:our|my)\s", re.IGNORECASE)
_WORD: Final = re.compile(r"[\w-]{2,40}")
_ALSO: Final = CachedPattern(r"\b(?:too|also|as\s+well)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, and what its turn tells about it."""

    text: str
    speaker: str = ""  # may be empty
    is_announced: bool = False  # its turn says that something changed
    day: date | None = None  # when it was said


def supersedes(earlier: Said, later: Said) -> Relation:
    """Returns UPDATE or CONTRADICT where the later statement takes the place of the earlier one, else another relation.

    Args:
        earlier: The statement that was made first.
        later: The other one.
    """
    found = _supersedes(earlier, later)
    if found is not Relation.UNRELATED or earlier.speaker.casefold() != later.speaker.casefold():
        return found
    if any(_supersedes(earlier, replace(later, text=text)) in _ENDS for text in later_deeds(later.text)):
        return Relation.UPDATE
    told = fates_told(with_apostrophes(later.text))
    if any(may_end(earlier.text, text) and _supersedes(earlier, replace(later, text=text)) in _ENDS for text in told):
        return Relation.UPDATE
    return found


def _supersedes(earlier: Said, later: Said) -> Relation:
    one, other = (with_plain_times(with_apostrophes(said.text)) for said in (earlier, later))
    one, other = with_days_alike(one, other)
    one, other = with_bare_names(one, other)
    earlier, later = _reworded(earlier, as_present(one)), _reworded(later, other)
    if are_of_two_times(earlier.text, earlier.day, later.text, later.day):
        return Relation.COMPATIBLE
    as_said, later = later.text, _reworded(later, in_plain_words(later.text))
    is_same_speaker = earlier.speaker.casefold() == later.speaker.casefold()
    if are_two_designated(earlier.text, later.text):
        return Relation.COMPATIBLE
    if is_same_speaker and (found := _by_topic(earlier.text, later.text)) is not None:
        return found
    if is_unreal(later.text) or is_unreal(earlier.text):
        return Relation.UNKNOWN
    earlier, later = _opened(earlier), _concluded(_opened(later))
    earlier = _reworded(earlier, without_cause(earlier.text))
    later = _reworded(later, with_full_name(earlier.text, with_own_noun(earlier.text, later.text)))
    if (neither := ruled_out(earlier.text, later.text, is_same_speaker=is_same_speaker)) is not None:
        return neither
    if is_same_speaker and is_retracted(earlier.text, later.text):
        return Relation.UPDATE
    if is_same_speaker and is_countermanded(earlier.text, later.text, is_other_day=_is_of_other_day(earlier, later)):
        return Relation.UPDATE
    if UNSURE.search(later.text):
        return Relation.UPDATE if is_same_speaker and _is_said_in_part(earlier, later) else Relation.UNKNOWN
    if is_same_speaker and _turns_back(earlier.text, later.text):
        return Relation.UPDATE
    if is_same_speaker and _has_another(earlier, later):
        return Relation.UPDATE
    if is_same_speaker:
        found = relation(earlier.text, later.text)
        if found in _ENDS and not _ALSO.search(later.text):
            return found
    if is_same_speaker and (
        takes_another_end(earlier.text, later.text)
        or (_is_of_other_day(earlier, later) and is_stated_anew(earlier.text, later.text))
        or _is_told_in_other_words(earlier, later)
        or _is_said_in_part(earlier, later)
        or is_corrected_in_short(earlier.text, as_said, day=earlier.day, later_day=later.day)
    ):
        return Relation.UPDATE
    return _read_plainly(earlier, later, is_same_speaker=is_same_speaker)


def _reworded(said: Said, text: str) -> Said:
    return said if text == said.text else replace(said, text=text)


def _opened(said: Said) -> Said:
    text, is_new = without_opener(said.text)
    if text == said.text and not is_new:
        return said
    return replace(said, text=text, is_announced=said.is_announced or is_new)


def _concluded(said: Said) -> Said:
    """What the speaker concludes from what somebody says: "Tom says the road is open, so [my bus is the 14 again]"."""
    result = _RESULT.search(said.text) if REPORTED.match(said.text) else None
    return said if result is None else replace(said, text=said.text[result.end() :])


def _has_another(earlier: Said, later: Said) -> bool:
    """Another numbered thing is the speaker's, another platform is used, or somebody else does the same."""
    one, other, is_told = earlier.text, later.text, later.is_announced
    if is_given_another(one, other, is_told=is_told) or runs_elsewhere(one, other, is_told=is_told):
        return True
    return is_held_by_another(one, other) or is_done_by_another(one, other, is_told=is_told)


def _is_told_in_other_words(earlier: Said, later: Said) -> bool:
    """A state of life, a thing or a date that is another one by one of the many phrases of the data files."""
    if not UNSURE.search(earlier.text) and lives_on(earlier.text, later.text, is_new=later.is_announced):
        return True
    one, other = earlier.text, later.text
    if _is_of_other_day(earlier, later) and has_another_value(one, other):
        return True
    if is_closed(one, other) or is_given_up(one, other) or is_so_after_all(one, other):
        return True
    if is_wanted_otherwise(one, other, is_other_day=_is_of_other_day(earlier, later)):
        return True
    return is_set_anew(one, other, is_new=later.is_announced, day=earlier.day, later_day=later.day)


def _is_said_in_part(earlier: Said, later: Said) -> bool:
    if UNSURE.search(earlier.text):
        return False
    is_other_day = _is_of_other_day(earlier, later)
    return is_said_otherwise(earlier.text, later.text, is_told=later.is_announced, is_other_day=is_other_day)


def _is_of_other_day(earlier: Said, later: Said) -> bool:
    return earlier.day is not None and later.day is not None and earlier.day < later.day


def _turns_back(earlier: str, later: str) -> bool:
    """What was given up and is done again, what passed, one item of several, and yes and no of the same."""
    if UNSURE.search(earlier):
        return False
    if denies_plainly(earlier, later):
        return True
    rules = (
        is_over,
        is_fulfilled,
        is_lifted,
        is_out,
        is_for_nothing,
        frees_a_weekday,
        is_reversed,
        is_listed_anew,
        is_exchanged,
        is_titled_anew,
        goes_back_to_another_number,
    )
    if any(rule(earlier, later) for rule in rules):
        return True
    first, second = read_statement(earlier), read_statement(later)
    return loses_an_item(earlier, first.clauses, second.pieces, second.clauses)


def _read_plainly(earlier: Said, later: Said, *, is_same_speaker: bool) -> Relation:
    """What two statements say without the words that tell since when."""
    plain, is_dated = plainly(later.text)
    later = replace(later, text=f"{plain} now" if is_dated else plain, is_announced=later.is_announced or is_dated)
    one, other = in_plain_form(plainly(earlier.text)[0], later.text)
    earlier, later = _reworded(earlier, one), _reworded(later, other)
    if is_same_speaker and gives_another_number(earlier.text, later.text, is_told=later.is_announced):
        return Relation.UPDATE
    is_own = is_same_speaker and not OTHERS.match(earlier.text)
    if is_own and any(is_taken_off(earlier.text, piece) for piece in read_statement(later.text).pieces):
        return Relation.UPDATE
    if is_same_speaker:
        found = relation(main_part(earlier.text), main_part(later.text))
        if found in _ENDS and not _ALSO.search(later.text):
            return found
    first, second = read_statement(earlier.text), read_statement(later.text)
    is_announced = any(pattern.search(later.text) for pattern in (_AFTER_THAT, _WITH_NEW)) or later.is_announced
    told = [is_announced or _was_named(a, second) for a in first.clauses]
    for b in second.clauses:
        for a, is_told in zip(first.clauses, told, strict=True):
            if is_same_speaker and _follows(a, b, is_told=is_told):
                return Relation.UPDATE
            if is_denied(a, b) or is_replaced(a, b, is_told=is_told):
                return Relation.UPDATE if b.changed or is_told else Relation.CONTRADICT
    main = read_statement(main_part(earlier.text)).clauses
    if is_same_speaker and rescheduled(main, second.clauses, earlier.day, later.day):
        return Relation.UPDATE
    is_new = later.is_announced or is_announced
    if is_same_speaker and (
        _lives_otherwise(earlier, later, is_new=is_new)
        or (not OTHERS.match(earlier.text) and is_left_behind(first.clauses, second.pieces, later.text))
    ):
        return Relation.UPDATE
    if is_same_speaker and _goes_with_what_ended(earlier.text, later.text):
        return Relation.UPDATE
    if passes_over(first.pieces, second.pieces) and (is_same_speaker or not FIRST.search(earlier.text)):
        return Relation.UPDATE
    if is_same_speaker and (
        _told_otherwise(earlier.text, later.text, is_told=is_announced)
        or is_left_of_several(first.clauses, second.pieces)
    ):
        return Relation.UPDATE
    return Relation.UNRELATED


def _goes_with_what_ended(earlier: str, later: str) -> bool:
    if OTHERS.match(earlier) and (
        _OWN_THING.match(later) or (FIRST.search(later) and not _shares_person(earlier, later))
    ):
        return False  # "our trip is cancelled" says nothing of "my sister flies to Split"
    earlier, later = as_own(earlier, later)
    first, second = read_statement(earlier), read_statement(later)
    return has_ended(first, second) or goes_with_it(first.clauses, earlier, second.pieces)


def _shares_person(earlier: str, later: str) -> bool:
    """Whether the later statement names somebody who stands in the earlier one; in small letters it opens with them."""
    if set(people_in(earlier)) & set(people_in(later)):
        return True
    if later.islower():
        return later.split(maxsplit=1)[0] in nouns_of(earlier)
    return any(
        word[:1].isupper() for word in {*_WORD.findall(later)} & {*_WORD.findall(earlier)} - {"My", "Our", "The"}
    )


def _follows(a: Clause, b: Clause, *, is_told: bool) -> bool:
    if succeeds(a, b, is_told=is_told) or begins(a, b):
        return True
    return is_measured_anew(a, b, is_told=is_told) or goes_by_other_means(a, b, is_told=is_told)


def _lives_otherwise(earlier: Said, later: Said, *, is_new: bool) -> bool:
    """A question about the speaker has another answer."""
    if OTHERS.search(earlier.text) or UNSURE.search(earlier.text):
        return False
    is_new = is_new or CHANGED.search(later.text) is not None
    return answers_anew(earlier.text, later.text, is_new=is_new, is_other_day=_is_of_other_day(earlier, later))


def _by_topic(earlier: str, later: str) -> Relation | None:
    """What a common topic tells, in sentences of any length."""
    if FIRST.search(later) and denies(earlier, later):
        return Relation.CONTRADICT
    if happens_after_all(earlier, later) or _was_so(earlier, later):
        return Relation.UPDATE
    if requantifies(earlier, later) and not (OTHERS.match(earlier) and not OTHERS.search(later)):
        return Relation.UPDATE  # "my savings goal is 5,500 now" says nothing of that of my brother
    if _NEVER.search(earlier) and _WILL.search(later):
        return Relation.COMPATIBLE  # what was never done may be done yet
    return None


def _was_named(a: Clause, later: Read) -> bool:
    """The earlier value is spoken of in the past: "The Aurora was full, we stay at the Flor"."""
    values = {word for item in a.rest if isinstance(item, str) for word in item.split() if word in a.names}
    return any(c.past and c.verb == "be" and {str(item) for item in c.subject} & values for c in later.clauses)


def _was_so(earlier: str, later: str) -> bool:
    """The later one puts the earlier one into the past: "I used to live in Lyon"."""
    if "used to" not in later or len(earlier) > CHARS_MAX or len(later) > CHARS_MAX:
        return False
    return any(was_so(a, b) for a in read_statement(earlier).clauses for b in read_statement(later).clauses)


def _told_otherwise(earlier: str, later: str, *, is_told: bool) -> bool:
    """A change of the speaker's life, or of an order, in other words."""
    first, second = read_statement(earlier), read_statement(later)
    if any(is_left_out(a, piece) for a in first.clauses for piece in second.pieces):
        return True
    if (is_told or CHANGED.search(later) is not None) and goes_otherwise(earlier, later):
        return True
    if not OTHERS.search(earlier) and not OTHERS.search(later) and abstains(earlier, later):
        return True
    return is_born(earlier, later) or are_opposed(earlier, later) or has_another_state(earlier, later, is_told=is_told)
