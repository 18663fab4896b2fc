"""Verbs after which what they are about is no more: "Dropped art history", "Bruno died". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.comparison.slots import has_got
from services.common.values.model import Modality
from services.common.values.partings.endings import is_of_another_party
from services.common.values.reading.clauses import Clause
from services.common.values.reading.people import OTHERS, THIRD, is_of_others
from services.common.values.reading.pieces import Read
from services.common.values.words.fields import ENDED
from services.common.values.words.nouns import attributes_in, meal_in, nouns_of
from services.common.values.words.tokens import lemma

_CAUSED: Final = re.compile(
    r"\b(?:[Hh]ave|[Hh]ad|[Gg]ot|[Gg]et)\s+(?P<what>(?:(?:the|my|our)\s+\w|[A-Z])[^,;.]{0,40})\s$"
)
"""Somebody lets it be done to something: "we had Pluto put down"."""
_I: Final = re.compile(r"^(?:i|we|i've|we've|i'm|we're)\b", re.IGNORECASE)
_ONE_OF: Final = re.compile(r"\b(?:one|some|two|most|half|part)\s{1,3}of\b", re.IGNORECASE)
_FROM: Final = re.compile(r"\s{1,3}from\s{1,3}(?:the|her|his|their|my|our)\s{1,3}(?P<what>\w+)", re.IGNORECASE)
_NO_LONGER: Final = re.compile(r"\bno\s+longer\s+(?P<verb>\w+)", re.IGNORECASE)
_UNDERGONE: Final = re.compile(r"\b(?:is|are|was|were|been|be|got|gets)\s+$", re.IGNORECASE)
_INTRANSITIVE: Final = re.compile(
    r"died|packed|crossed|passed|found|came\s+off|ran\s+away|burn|healed|wore\s+off|cleared\s+up|dissolved|disbanded|(?:has|have|had)\s+left|split|broke|separated|lifted|switched|shut|closed|retired|decom|expired|ended|is\s|are\s|fell|discon",
    re.IGNORECASE,
)

_LEFT_WORK: Final = re.compile(
    r"\s{1,3}(?:the|our|this)\s{1,3}(?:company|firm|team|department|agency|studio|practice|school|office|business)\b",
    re.IGNORECASE,
)
_AWAY: Final = re.compile(
    r"\bback\s(?:on|in|at|by|next|tomorrow|soon)\b|\b(?:until|till|holidays?|vacation)\b|"
    r"\bfor\s(?:an?|two|three|four|some|several|\d{1,2})\s(?:\w{1,20}\s)?(?:days?|weeks?|months?|while|bit)\b",
    re.IGNORECASE,
)
_PRIVATE: Final = frozenset(
    "live like love hate know own study drive speak eat drink prefer collect play sleep".split()  # noqa: SIM905 - words
)
_TOGETHER: Final = frozenset("play swim run climb sing dance live love like know visit date".split())  # noqa: SIM905 - words
"""What somebody does, and what the speaker does with them, wherever they work."""


def has_ended(first: Read, second: Read) -> bool:
    """Returns whether what the earlier statement is about is no more: "Dropped art history", "Bruno died"."""
    for piece in second.pieces:
        match = ENDED.search(piece)
        if match is None or re.search(r"\b(?:not|never|n't|did\s?n't)\b", piece[: match.start()], re.IGNORECASE):
            continue
        gone = _named(piece, match)
        if match[0].casefold().endswith("left") and _AWAY.search(piece[match.end() :]) is not None:
            continue  # "Bashir has left for Karachi, back on the 20th"
        if not gone or _ONE_OF.search(piece):
            continue
        from_what = _FROM.match(piece[match.end() :])
        if from_what is not None and _INTRANSITIVE.match(match[0]):
            gone |= nouns_of(from_what["what"])  # "Helene retired from the choir"
        deed = _NO_LONGER.search(piece)
        if deed is not None:
            gone -= {lemma(deed["verb"].casefold())}
        left_work = _LEFT_WORK.match(piece[match.end() :]) if match[0].casefold().endswith("left") else None
        is_left = match[0].casefold().startswith("quit")
        for clause in first.clauses:
            if is_left and _is_of_itself(clause, gone):
                continue  # "the bakery has good rye", where the speaker quit it
            if clause.modality not in {Modality.STATED, Modality.HEDGED} or clause.historic:
                continue
            if clause.past and not has_got(clause):
                continue
            if left_work is not None and _is_private(clause, gone):
                continue  # "Ilse lives in Kiel", where she left the company
            if clause.negated and not _INTRANSITIVE.match(match[0]):
                continue
            known = {str(item) for item in (*clause.subject, *clause.rest)}
            known = {word for item in known for word in item.split()} | {*map(lemma, clause.words)}
            is_others = _is_of_somebody_else(clause, piece, match, gone) or is_of_another_party(clause, piece)
            if gone <= known and not is_others and _is_own(clause, piece):
                return True
    return False


def _is_private(clause: Clause, who: frozenset[str]) -> bool:
    """Whether a clause says of somebody what has nothing to do with their work."""
    subject = {lemma(word) for item in clause.subject for word in str(item).split()}
    if subject <= {"i", "we"}:
        return clause.verb in _TOGETHER
    is_friend = clause.verb == "be" and bool({"friend", "mate"} & {*map(str, clause.rest), *clause.words})
    return bool(subject & who) and (clause.verb in _PRIVATE or is_friend)


def _is_of_itself(clause: Clause, thing: frozenset[str]) -> bool:
    """Whether a clause says what something is or has, and nothing of the speaker."""
    subject = {lemma(word) for item in clause.subject for word in str(item).split()}
    return bool(thing & subject) and not {"i", "we", "my", "our", "me", "us"} & {*clause.words, *subject}


def _named(piece: str, match: re.Match[str]) -> frozenset[str]:
    """The nouns that an ending verb is about: its subject where it has a noun, else its object up to a clause end."""
    caused = _CAUSED.search(piece[: match.start()])
    if caused is not None:
        return nouns_of(caused["what"])
    before = nouns_of(piece[: match.start()]) | meal_in(piece[: match.start()])
    before |= attributes_in(piece[: match.start()]) if before else frozenset()
    inner = re.search(r"\blet\b(.{1,20})\bgo\b", match[0], re.IGNORECASE)
    if inner is not None:
        return nouns_of(inner[1])
    after = nouns_of(
        re.split(r"[,;.!]|\b(?:because|since|on|in|at|and|this|last|for|by|from)\b", piece[match.end() :])[0]
    )
    is_subject = _INTRANSITIVE.match(match[0]) or _UNDERGONE.search(piece[: match.start()])
    return before if is_subject else after


def _is_own(clause: Clause, piece: str) -> bool:
    """Whether both are about the speaker or the thing itself, not about somebody else's."""
    if clause.possessors or THIRD.search(piece):
        return False
    return not OTHERS.search(piece) and not any(item in {"he", "she", "they", "you"} for item in clause.subject)


def _is_of_somebody_else(clause: Clause, piece: str, match: re.Match[str], gone: frozenset[str]) -> bool:
    """Whether the speaker ends something of theirs that another one has too: "Joost takes the bus", "no more bus"."""
    is_by_speaker = _I.match(piece) is not None or not match.start()
    if not is_by_speaker:
        return False
    subject = {word for item in clause.subject for word in str(item).split()}
    return is_of_others(clause) or bool(subject & clause.names and not subject & gone)
