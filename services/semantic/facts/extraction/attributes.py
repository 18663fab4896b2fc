# ruff: noqa: E501 - a pattern reads best on one line
"""What is said of something of one's own: "my birthday is on the 5th of May", "our wedding is in June"."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from services.semantic.facts.extraction.clauses import Clause
from services.semantic.facts.extraction.dates import find_date
from services.semantic.facts.extraction.findings import NO_OBJECT, TRAILING, draft, tidy, with_date
from services.semantic.facts.extraction.person import third_person_pronouns
from services.semantic.facts.model import FactDraft

_EVENT: Final = re.compile(
    r"^(?:my|our) (?P<event>(?:[\w'-]+ ){0,3}?(?:birthday|anniversary|wedding|appointment|interview|exam|flight|operation|surgery|deadline|"
    r"due date|graduation|meeting|viewing|driving test|trip|holiday|vacation|train|conference|concert|first day|last day))"
    r"(?: is|'s| was)? (?:on |in |at )?(?P<when>.{2,60})$",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(
    r"^(?:my|our) (?P<what>(?:full |first |last |middle |real )?name|job|profession|occupation|hometown|home town|native language|mother tongue|"
    r"first language|budget|goal|dream|pronouns|star sign|blood type|degree|major|zodiac sign|time ?zone|nickname|employer|email|nationality|"
    r"new address|address|dream job|biggest fear|hobby|hobbies|main hobby)(?: is|'s| are) (?P<obj>.{1,100})$",
    re.IGNORECASE,
)
_LINKED: Final = re.compile(r"(?:on|in|at|next|this|tomorrow|today)\b", re.IGNORECASE)
_JUDGED: Final = re.compile(r"(?:not|so|very|too|really|to be|going|getting|boring|killing)\b", re.IGNORECASE)
_YOU: Final = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_ATTRIBUTE_PREDICATES: Final = {
    "job": "works_as", "profession": "works_as", "occupation": "works_as", "hometown": "comes_from", "home town": "comes_from",
    "native language": "speaks", "mother tongue": "speaks", "first language": "speaks", "budget": "has_budget", "goal": "goal",
    "dream": "wants_to", "dream job": "wants_to", "pronouns": "has_pronouns", "degree": "has_degree", "major": "studies", "nickname": "preferred_name",
    "employer": "works_at", "nationality": "nationality", "hobby": "likes", "hobbies": "likes", "main hobby": "likes",
}  # fmt: skip


def attribute(clause: Clause, who: str, *, said: datetime) -> FactDraft | None:
    """The fact of a clause that begins with "my" or "our"; None of any other, and of a vague one.

    Args:
        clause: What was said.
        who: The speaker.
        said: When.
    """
    full = tidy(clause.full)
    if not full[:3].lower().startswith(("my ", "our")) or _YOU.search(full):
        return None
    match = _ATTRIBUTE.match(full)
    if match is not None:
        return _named(match, who)
    match = _EVENT.match(full)
    return None if match is None else _dated(match, who, said)


def _named(match: re.Match[str], who: str) -> FactDraft | None:
    what = match["what"].lower()
    is_name = what.endswith("name") and what != "nickname"
    value = third_person_pronouns(TRAILING.sub("", match["obj"]))
    if not value or NO_OBJECT.match(value) or _JUDGED.match(value):
        return None
    verb = "are" if what.endswith("s") else "is"
    predicate = "has_name" if is_name else _ATTRIBUTE_PREDICATES.get(what, "owns")
    return draft(f"{who}'s {what} {verb} {value}", who, predicate, value)


def _dated(match: re.Match[str], who: str, said: datetime) -> FactDraft | None:
    when = match["when"]
    date = find_date(when, said, past=False) or find_date(f"on {when}", said, past=False)
    if date is None or date.begin > 0:
        return None
    event = third_person_pronouns(match["event"])
    text = f"{who}'s {event} is {'' if _LINKED.match(when) else 'on '}{when}"
    if match["event"].lower() == "birthday":
        value = date.iso if date.is_explicit or len(date.iso) < 7 else date.iso[5:]
        return draft(f"{text} ({value})", who, "birthday", value)
    return draft(with_date(text, date), who, "event_on", f"{event} {date.iso}", date.start)
