"""What was given up and is taken up again, and what was never done or had and is by now (SPEC 3.5). Pure functions.

"I quit Twitter" ends with "I'm back on Twitter", "I've never been to Japan" with "just got back from Japan". The later
statement must be of the speaker's own life, name what the earlier one denies, and, where something was given up, say
that it is so again: who is tempted, may again or did it once by mistake has not gone back to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.denial.topics import stem
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS
from services.common.values.reading.whose import is_subject_speaker, spoken
from services.common.values.words.lexicon import AUXILIARIES, PARTS_OF_DAY, PRONOUNS, SEASONS, STOP, WEEKDAYS
from services.common.values.words.tokens import PUNCTUATION, lemma

_CHARS_MAX: Final = 250
_ING_CHARS_MIN: Final = 5
"""In shorter words "ing" is no ending: "king"."""


def _one_of(words: str) -> str:
    """A pattern for one of these; "_" stands for a blank."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


_ADVERBS: Final = (
    rf"(?:{_one_of('just finally completely also really actually recently already even both all')} ){{0,2}}"
)
_STOPS: Final = _one_of(
    r"""
    since after because as when while until last this ago so but and_(?:i|we) by years yet any_more anymore any_longer
    in_(?:\d{4}|spring|summer|autumn|winter|(?-i:January|February|March|April|May|June|July)|(?-i:[ASOND]\w+ber|August))
    for_(?:good|now|ever|a|the|health)
    """
)
_LIMITS: Final = _one_of("since so but and_(?:i|we) yet because")
_WORD: Final = r"[^\s.,;:!?]{1,40}"
_THING: Final = rf"(?P<what>(?:{_WORD} ){{0,5}}?{_WORD})(?= (?:[.,;:!?]|{_STOPS}) )"
_LIMITED: Final = rf"(?P<what>(?:{_WORD} ){{0,7}}?{_WORD})(?= (?:[.,;:!?]|{_LIMITS}) )"
"""What never happened, with what limits it: "written tests for the billing module"."""
_ENDINGS: Final = _one_of(
    """
    stop stopped quit given_up give_up gave_up dropped drop cancelled canceled ditched deleted uninstalled left leaving
    closed come_off came_off gone_off went_off packed_in swore_off sworn_off turned_my_back_on took_a_break_from off
    paused suspended shelved abandoned kicked retired_from withdrew_from withdrawn_from unsubscribed_from sold lost
    got_rid_of let_go_of switched_off turned_off cut_out put_aside
    had_enough_of let_lapse
    """
)
_GIVEN_UP: Final = re.compile(
    rf" (?:i|we) (?:have |had to |am |are )?{_ADVERBS}{_ENDINGS} (?:with |on )?{_THING}", re.IGNORECASE
)
"""The speaker did it, had it or belonged to it, and does not any more."""
_PARTED: Final = re.compile(rf" (?:i|we) (?:have )?{_ADVERBS}(?:broke|broken|split) up with {_THING}", re.IGNORECASE)
_TOGETHER: Final = re.compile(r" (?:together again|back together|back with|dating again) ", re.IGNORECASE)
_NO_LONGER: Final = re.compile(
    rf" (?:i|we) (?:(?:do|am|are|can|could) not|no longer|never) {_ADVERBS}{_THING}", re.IGNORECASE
)
"""The speaker does not do it; whether they did is not said."""
_NEVER: Final = re.compile(rf" (?:i|we) (?:have (?:never|not|yet to)|had never) {_ADVERBS}{_LIMITED}", re.IGNORECASE)
"""It did not happen so far."""
_NO_DOING: Final = re.compile(
    rf" no (?:more )?(?P<what>{_WORD}ing(?: {_WORD}){{0,2}}?)(?= (?:for (?:me|us)|until|till|at_all|any more|[.,;!]) )",
    re.IGNORECASE,
)
"""As in "no running for me until the crutches are gone"."""
_FOR_A_TIME: Final = re.compile(
    rf" (?:without (?:a |an |the |our |my )?|no )(?P<what>{_WORD}(?: {_WORD})?)"
    r"(?= (?:for (?:some|a|the|two|three|four|six|several|\d+)|until|till) )",
    re.IGNORECASE,
)
"""As in "no kitchen for some weeks"."""
_READY: Final = re.compile(
    r" (?:is|are|works?) (?:now |finally |all |up and )?"
    r"(?:finished|ready|done|back|fixed|repaired|running|working|on again) ",
    re.IGNORECASE,
)
_NONE: Final = _one_of("(?:do|have)_not_(?:have|own|got) have_no have_not_got own_no lack have_yet_to_get")
_LACKS: Final = re.compile(rf" (?:i|we) {_NONE} (?:a |an |any |our own |my own )?{_THING}", re.IGNORECASE)
"""There is none."""
_DENIALS: Final = (
    ("lacks", _LACKS),
    ("never", _NEVER),
    ("given_up", _GIVEN_UP),
    ("given_up", _NO_LONGER),
    ("parted", _PARTED),
    ("given_up", _NO_DOING),
    ("for_a_time", _FOR_A_TIME),
)
_BACK: Final = r"back(?: (?:on|to|at|in|with|into|onto|up|together)(?= )|(?= $))"
_ANEW: Final = rf"{_one_of('join start open sum activat instal subscrib new discover gain instat viv')}\w{{0,5}}"
_AGAIN: Final = re.compile(rf" (?:again|once more|anew|{_BACK}|re-?{_ANEW}|return\w{{0,5}}) ", re.IGNORECASE)
_TAKEN_UP: Final = re.compile(
    r" (?:take|taken|took|taking|pick|picked) up | (?:start|began|begun|resum|return|back) ", re.IGNORECASE
)
"""Goes with any deed: who has taken up tennis again plays it."""
_ANY_DEED: Final = frozenset(
    "play practise practice read eat drink wear ride attend take have get like love enjoy want need".split()  # noqa: SIM905
)
_WANTED: Final = frozenset({"want", "need"})
_ORDERED: Final = re.compile(r"^ (?:please |can you |could you )(?!(?:do not|never) )", re.IGNORECASE)
_OPEN: Final = (
    "not never no nobody (?-i:may) might could would should will shall want wants wanted hope hoped plan plans dream "
    "dreamt dreamed almost nearly book film article about "
    "going_to(?!_(?:the|my|our|an?)_) (?:like|love|keen|dying|itching)_to tempted instead remember thinking thought"
)
"""Words with which nothing is told that is so."""
_NO_RETURN: Final = re.compile(
    " "
    + _one_of(
        f"""
        {_OPEN} without can miss missed misses once mistake accident accidentally (?:an?|some)_old allowed looked_after
        rented rental borrowed hired saw seen heard until till today tonight yesterday remembered
        """
    )
    + " ",
    re.IGNORECASE,
)
"""Words with which a return is not told, or was for once."""
_NOT_HAPPENED: Final = re.compile(
    f" {_one_of(f'{_OPEN} documentary video booked wish bought tickets?')} ", re.IGNORECASE
)
_TRAVEL: Final = re.compile(
    " "
    + _one_of(
        """
        go goes went gone been was were am are is spent spend visit visited visiting travelled traveled travelling flew
        flown drove toured back returned landed arrived came come touring exploring explored living moved stayed staying
        """
    )
    + " ",
    re.IGNORECASE,
)
_GOT: Final = re.compile(
    " "
    + _one_of(
        """
        got get bought adopted acquired received inherited picked_up was_given were_given own became have found passed
        built signed_up_for took_out
        """
    )
    + " ",
    re.IGNORECASE,
)
_NOT_GOT: Final = re.compile(
    " "
    + _one_of(
        """
        rented rental borrowed hired looked_at looked_after test toy for_(?:his|her|their)
        for_(?:my|a_friend|somebody|the_(?:day|weekend|week|kids))
        """
    )
    + " ",
    re.IGNORECASE,
)
_DONE_TO_ME: Final = re.compile(r" (?:put|puts|took|let|got|brought) (?:me|us) back ", re.IGNORECASE)
_SAME_DEED: Final = {"read": {"finish", "read"}, "see": {"watch", "see"}, "watch": {"see", "watch"}}
"""Verbs that say of the same thing that the same was done."""
_LIGHT: Final = (
    AUXILIARIES
    | DETERMINERS
    | PREPOSITIONS
    | PRONOUNS
    | STOP
    | WEEKDAYS
    | PARTS_OF_DAY
    | SEASONS
    | frozenset("any more anymore longer yet ever much really all kind sort of account use using do doing get".split())  # noqa: SIM905
) - {"have"}


class _Denied(NamedTuple):
    kind: str  # given_up, parted, for_a_time, never or lacks
    words: frozenset[frozenset[str]]  # each by its stems
    deed: str  # the verb of what never happened, or one that goes with the thing given up; "" where there is none


def is_so_after_all(earlier: str, later: str) -> bool:
    """Returns whether a later statement says that what the earlier one denies is so by now.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    if max(len(earlier), len(later)) > _CHARS_MAX or later.rstrip().endswith("?") or '"' in later:
        return False
    denied = _denied(spoken(earlier))
    if not denied:
        return False
    return any(_is_answered(one, clause) for one in denied for clause in _clauses(spoken(later)))


def _is_answered(denied: _Denied, clause: str) -> bool:
    if not all(word & _all_stems(clause) for word in denied.words):
        return False
    if denied.kind in {"given_up", "parted"}:
        return _is_taken_up(denied, clause)
    if _NOT_HAPPENED.search(clause):
        return False
    if denied.kind == "for_a_time":
        return _READY.search(clause) is not None
    if denied.kind == "lacks":
        return not _NOT_GOT.search(clause) and _is_of_speaker(clause, _GOT.search(clause))
    if denied.deed == "be":
        return _is_of_speaker(clause, _TRAVEL.search(clause)) and _is_place(denied.words, clause)
    wanted = _SAME_DEED.get(denied.deed, {denied.deed})
    deed = next((match for match in re.finditer(r"\S+", clause) if lemma(match[0].lower()) in wanted), None)
    return _is_of_speaker(clause, deed)


def _is_taken_up(denied: _Denied, clause: str) -> bool:
    if _NO_RETURN.search(clause) or (denied.kind == "parted" and not _TOGETHER.search(clause)):
        return False
    again = _AGAIN.search(clause)
    if again is not None and denied.deed in _WANTED and _ORDERED.match(clause):
        return True
    if denied.deed and not _TAKEN_UP.search(clause) and not _stems_of(denied.deed) & _all_stems(clause):
        return False
    return _is_of_speaker(clause, again, denied.words)


def _is_of_speaker(clause: str, match: re.Match[str] | None, things: frozenset[frozenset[str]] = frozenset()) -> bool:
    """Whether what a match says has the speaker as its subject, or is done to the speaker.

    `things` before the match are no subject: "I picked up Spanish again".
    """
    if match is None:
        return False
    before = clause[: match.start()].split()
    while before and any(_stems_of(before[-1].lower()) & thing for thing in things):
        before.pop()
    said = f" {' '.join(before)} "
    return is_subject_speaker(said, len(said), with_groups=True) or bool(_DONE_TO_ME.search(clause))


def _is_place(words: frozenset[frozenset[str]], clause: str) -> bool:
    """Whether the place is where somebody went: "to Japan", "from Japan", "visited Japan"."""
    found = clause.lower().split()
    return any(
        any(_stems_of(word) & wanted for wanted in words) and _LEADS_TO & set(found[max(0, place - 3) : place])
        for place, word in enumerate(found)
    )


_LEADS_TO: Final = frozenset(
    [
        "to",
        "in",
        "from",
        "at",
        "through",
        "around",
        "across",
        "visit",
        "visited",
        "visiting",
        "toured",
        "touring",
        "explored",
    ]
)


@text_cache(4_096)
def _denied(said: str) -> tuple[_Denied, ...]:
    return tuple(_read(said))


def _read(said: str) -> Iterator[_Denied]:
    for kind, pattern in _DENIALS:
        for match in pattern.finditer(said):
            words = match["what"].split()
            deed = lemma(words[0].lower())
            if kind != "never" and not (kind == "given_up" and deed in _ANY_DEED and len(words) > 1):
                deed = ""
            things = _stems(f" {' '.join(words[1:] if deed and len(words) > 1 else words)} ")
            if things:
                yield _Denied(kind, things, deed)


def _stems(text: str) -> frozenset[frozenset[str]]:
    words = (word if word == "May" else word.lower() for word in text.split() if word not in PUNCTUATION)
    return frozenset(_stems_of(word.lower()) for word in words if word not in _LIGHT and not word[:1].isdigit())


def _stems_of(word: str) -> frozenset[str]:
    """A word without its ending, as it stands and in its base form."""
    found = {stem(word), stem(lemma(word))}
    if word.endswith("ing") and len(word) > _ING_CHARS_MIN:
        base = word.removesuffix("ing")
        found |= {stem(base), stem(f"{base}e"), stem(base[:-1] if base[-1] == base[-2] else base)}
    return frozenset(found)


@text_cache(4_096)
def _all_stems(clause: str) -> frozenset[str]:
    return frozenset().union(*(_stems_of(word.lower()) for word in clause.split()))


def _clauses(said: str) -> Iterator[str]:
    for clause in re.split(r" [.,;:!?] | (?:but|so|because|and(?= (?:i|we|my|the) )) ", said):
        if clause.strip():
            yield f" {clause.strip()} "
