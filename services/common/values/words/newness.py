"""Words around a statement that say since when it holds: "since the merger", "as of May". Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache

_CALENDAR: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|easter|christmas|new\\syear"
)
_MOMENT: Final = (
    rf"(?:now(?:\son)?|here\son|today|tomorrow|yesterday|this\s\w+|next\s\w+|last\s\w+|v\d[\d.]{{0,8}}|version\s\d[\d.]{{0,8}}|"
    rf"the\s(?:first|\d\w{{2,3}})|\d{{4}}|"
    rf"(?:the\s\w+\sof\s)?(?:{_CALENDAR}))(?:\son(?:wards?)?)?"
)
_EVENTS: Final = (
    "(?:move|merger|sale|reshuffle|re-?organi[sz]ation|holidays?|summer|winter|break|renovation|meeting|row|divorce|"
    "separation|wedding|operation|surgery|diagnosis|exams?|birth|pregnancy|update|upgrade|change|switch|flood|fire|"
    "accident|course|trial|review|audit|election|promotion|relocation|takeover|incident|vote|lockdown|injury|illness)"
)
_AFTER_EVENT: Final = rf"after\s(?:the|my|our)\s(?:\w+\s)?{_EVENTS}"
_SINCE: Final = (
    r"(?:since|following)\s(?:the|my|our|a)\s(?!last\s(?:chat|talk|call))(?!chat|talk|conversation|call)[\w-]+"
    r"(?:\s(?!(?:my|our|i|we|the|is|are|was|has|have)\b)[\w-]+)?"
)
_WHEN: Final = (
    r"(?:(?:\w+\s){1,3}(?:lessons?|days?|weeks?|months?|years?|sessions?|attempts?)\slater|"
    rf"(?:from|as\sof|since|starting|effective|beginning|with\seffect\sfrom)\s{_MOMENT}|{_SINCE}|{_AFTER_EVENT})"
)
_OPENER: Final = re.compile(
    rf"^{_WHEN},?\s(?=(?:my|our|the|an?|i|we|i'm|we're|there|\w+'s|(?-i:[A-Z]\w+))\b)", re.IGNORECASE
)
_TRAILER: Final = re.compile(
    rf",?\s(?:{_WHEN}|by\snow|once\sand\sfor\sall|this\s(?:season|term|semester|school\syear))(?=,\s|$)", re.IGNORECASE
)
_BECAUSE: Final = re.compile(r",?\ssince\s(?:they|he|she|it|we|i)\s[\w'\s-]{2,60}$", re.IGNORECASE)
_TURNED_OUT: Final = re.compile(r"^(?:it\s)?turns\sout\s(?:that\s)?(?=\w)", re.IGNORECASE)
_MADE_NEW: Final = re.compile(
    r"^(?:they|we|i|he|she)(?:'ve|\shave|\shas)?\s(?:changed|reset|renewed|replaced|moved|renamed|updated|raised|lowered|cut|swapped)\s"
    r"(?P<thing>(?:the|my|our)\s[\w'\s-]{2,40}?),\s(?:and\s|so\s)?(?:now\s)?it(?=(?:'s|\sis|\sstarts|\scosts|\sruns)\s)",
    re.IGNORECASE,
)
"""As in "they changed the gate code, it's 7741": what is new is the thing."""
_EXCLAIMED: Final = re.compile(
    r"^(?:(?:update|news|big\snews|correction|typo(?:\s\w+){0,3}|note|fyi|btw|ps|heads[\s-]up|oh|ugh|hey|ok|okay|right|well|so|"
    r"and|finally|actually|turns\sout|scratch\sthat|my\smistake|my\sbad|oops|sorry|good\snews|bad\snews)\b\s?[:,.!-]{1,3}\s){1,2}(?=\w)",
    re.IGNORECASE,
)
_ANNOUNCES: Final = re.compile(
    r"update|news|correction|typo|heads|actually|turns|scratch|mistake|my\sbad|oops", re.IGNORECASE
)


_CHATTY: Final = re.compile(
    r"(?:[\s,]{1,3}(?:btw|fyi|atm|rn|tbh|lol|haha|tho|though|pls|plz|please|mate|bro|dude|everyone|guys|folks|at\sthe\smoment|"
    r"by\sthe\sway|right\snow|as\syou\sknow|of\scourse|as\sit\shappens|sadly|thankfully|luckily|finally)){1,3}$",
    re.IGNORECASE,
)
"""What a sentence may end in without saying more."""
_ROLE_LAST: Final = re.compile(
    r"^(?P<who>(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s)?[A-Z][\w'-]{1,30}(?:\s[A-Z][\w'-]{1,30})?)\s(?P<be>is)\s"
    r"(?P<role>(?:my|our|the)\s(?!(?:best|only|same|one|first|last|new)\b)[\w-]{2,20}(?:\s(?!now\b)[\w-]{2,20})?)(?P<end>\snow)?$"
)
"""As in "Dr Hall is my dentist": the role is what the statement is about."""
_OCCASIONED: Final = re.compile(
    r"^(?:after|since|following|because\sof|due\sto|thanks\sto|owing\sto)\s(?:the|my|our|a)\s[^,:;]{3,60}[:,]\s(?=(?:the|my|our)\s)",
    re.IGNORECASE,
)
"""As in "after the burglary next door: the key is ...": why it is another."""


@text_cache(4_096)
def plainly(text: str) -> tuple[str, bool]:
    """Returns a statement without what says since when it holds, and whether something did.

    "After the holidays my boss is Ms Birch" and "my boss is Ms Birch from May" say "my boss is Ms Birch".
    """
    plain = " ".join(text.split()).rstrip(".! ")
    changed = _MADE_NEW.sub(lambda match: match["thing"], plain)
    if changed != plain:
        return changed.replace("'s ", " is ", 1) if "'s " in changed else changed, True
    plain = _CHATTY.sub("", _TURNED_OUT.sub("", plain))
    occasioned = _OCCASIONED.sub("", plain)
    if occasioned != plain:
        return _with_role_first(occasioned), True
    said = _EXCLAIMED.match(plain)
    opened = plain[said.end() :] if said is not None else plain
    is_new = said is not None and _ANNOUNCES.search(said[0]) is not None
    bare = _OPENER.sub("", opened)
    kept = _BECAUSE.sub("", _TRAILER.sub("", bare))
    is_dated = kept != opened
    return (_with_role_first(kept), True) if is_dated else (_with_role_first(opened), is_new)


def _with_role_first(text: str) -> str:
    match = _ROLE_LAST.match(text)
    if match is None:
        return text
    return f"{match['role']} is {match['who']}{match['end'] or ''}"
