"""States of the speaker that pass by themselves, and what says that they are over: "I'm back in my own flat".

Such a state ends nothing that lasts (`is_for_a_while`), and ends with the return. Pure functions.
"""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.people import OTHERS

_CHARS_MAX: Final = 200
_I: Final = r"\b(?:i'm|i\sam|we're|we\sare|i|we)(?:\s(?:now|currently|still|just|all))?\s"
_COUNT: Final = (
    r"(?:an?|another|the\snext|two|three|four|five|six|eight|ten|twelve|\d{1,2}|a\sfew|a\scouple\sof|several)"
)
_SPAN: Final = r"(?:days?|nights?|weeks?|months?|fortnight|weekends?|terms?|semesters?)"
_FOR_A_WHILE: Final = re.compile(
    rf"\bfor\s(?:(?:these|those|the\snext|the\scoming)\s(?:few\s)?(?:days|weeks)|lent|ramadan|(?:dry\s)?january|now|the\smoment|the\stime\sbeing|the\sweek(?:end)?|{_COUNT}\s(?:\w+\s)?{_SPAN})\b(?!\s(?:now|already)\b)|\btemporarily\b|"
    r"\bat\sthe\smoment\b|\b(?:until|till)\s(?:further\snotice|i\sget|we\sget|(?:the|my|our)\s[\w\s'-]{2,30}\s(?:is|are)\s"
    r"(?:done|finished|ready|fixed|repaired|renovated|healed|back|over|sold|found|mended|gone|off|out|better)\b)",
    re.IGNORECASE,
)
_ONCE: Final = re.compile(
    r"\b(?:just\s)?this\s(?:time|once)\b(?!\s(?:next|last|tomorrow|yesterday|around|of))|\bfor\sonce\b", re.IGNORECASE
)
"""As in "the lesson is on Friday this time"."""
_PERFECT: Final = re.compile(r"\b(?:been|have|has|'ve)\b|\b(?:postponed|extended|paid|since)\b|n't\b", re.IGNORECASE)
"""What lasts since then is no stay of some weeks: "I've been in Oslo for two weeks"."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_CLOCK: Final = (
    r"(?:\d{1,2}(?:[:.]\d\d)?(?:\s?[ap]m)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"noon|midnight)"
)
_ONLY: Final = r".{0,60}\b(?:only|just|shorter|reduced|half|part[\s-]time)\b"
"""Without it "these days" may tell of the usual hours."""
_MARK: Final = (
    rf"\b(?:these\sdays(?={_ONLY})|at\spresent|for\snow|at\sthe\smoment|for\sthe\s(?:moment|time\sbeing|present)|temporarily|(?:during|for|in)\s(?:ramadan|lent)|"
    rf"(?:until|till)(?!\s{_CLOCK})|this\s(?:week|month)|(?:while|as\slong\sas)\s(?:i|we|the|my|our)\b|meanwhile|in\sthe\smeantime)\b"
)
_HOURS: Final = (
    rf"(?:\b(?:i'm|i\sam|i|we're|we\sare|we)\s(?:\w+\s){{0,2}}?(?:work|working|start|starting|finish|finishing|at\s(?:my|our)\sdesk|open|in|available|reachable)\b"
    rf".{{0,40}}?\b(?:(?:from\s)?{_CLOCK}\s(?:to|till|until)\s{_CLOCK}|at\s{_CLOCK}|mornings\sonly|only\smornings|half\sdays|nights|earlies|lates|part[\s-]time|"
    r"(?:shorter|reduced|short)\s(?:hours|days))\b|"
    r"\b(?:i'm|i\sam|we're)\s(?:now\s)?on\s(?:nights|days|earlies|lates|(?:early|late|night|day)\sshifts?)\b|"
    r"\b(?:my|our)\s(?:\w+\s)?(?:hours|shifts?|schedule)\s(?:are|is|run|runs)\b)"
)
"""When somebody works: "I am at my desk from eight to two", "I work mornings only"."""
_USUAL: Final = r"(?:normal|usual|regular|old|ordinary|full|standard)"


_STATES: Final[tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]] = (
    (  # lodging with others
        _any(
            rf"{_I}(?:staying|stay|sleeping|crashing|camping|lodging)\s(?:at|with|in|on)\b",
            r"\bhouse-?sitting\b",
            r"\bliving\sout\sof\sa\ssuitcase\b",
            rf"{_I}(?:living|live)\s(?:at|with|in)\b.{{2,40}}\b(?:until|for\snow|at\sthe\smoment|temporarily|for\sthe\stime\sbeing)\b",
        ),
        _any(
            r"\bback\s(?:in|at)\s(?:my|our)\s(?:own\s)?(?:flat|house|place|apartment|home|bed|room)\b",
            r"\b(?:back\shome|home\sagain|moved\sback\s(?:home|in(?:to)?))\b",
            r"\bthe\shouse-?sitting\s(?:is|has)\s(?:over|ended|finished)\b",
        ),
    ),
    (  # away on a journey
        _any(
            rf"{_I}(?:away|abroad|travelling|traveling|on\s(?:holiday|vacation|a\s(?:business\s)?trip|tour))\b",
            rf"{_I}in\s[A-Z][\w-]+\s(?:this\s(?:week|month)|until|for\s(?:{_COUNT}\s{_SPAN}|the\sweek(?:end)?))",
        ),
        _any(
            r"\b(?:i'm|i\sam|we're|we\sare)\s(?:finally\s)?(?:back\shome|home\sagain|back\sfrom\s(?:holiday|vacation|[A-Z][\w-]+|the\strip|our\strip|my\strip|tour))\b",
            r"\b(?:i|we)\s(?:got|came|flew|drove)\s(?:back|home)\sfrom\b",
        ),
    ),
    (  # another place to work
        _any(
            rf"{_I}(?:working|work|sitting|sit)\s(?:from|out\sof|in|at)\b.{{2,30}}\b(?:this\s(?:week|month)|until|for\snow|at\sthe\smoment|for\s{_COUNT}\s{_SPAN})",
            r"\bthis\s(?:week|month)\s(?:i'm|i\sam|we're|i|we)\s(?:working|work)\s(?:from|out\sof|in|at)\b",
            r"\bon\ssecondment\b",
            rf"{_I}(?:covering|filling\sin|standing\sin)\sfor\b",
        ),
        _any(
            r"\b(?:i'm|i\sam|we're|we\sare)\s(?:finally\s)?back\s(?:in|at)\sthe\s(?:\w+\s)?(?:office|lab|clinic|studio|shop|branch)\b",
            r"\b(?:the|my)\ssecondment\s(?:is|has)\s(?:over|ended|finished)\b",
            r"\bback\sin\smy\s(?:own|old|usual)\s(?:job|role|team|post|office)\b",
            r"\bback\s(?:at|behind)\smy\s(?:own\s|old\s|usual\s)?desk\b",
        ),
    ),
    (  # work from home, for years or for weeks
        _any(rf"{_I}(?:work|working)\sfrom\shome\b"),
        _any(
            r"\b(?:i'm|i\sam|we're|we\sare)\s(?:\w+ly\s)?back\s(?:in|at)\sthe\s(?:\w+\s)?(?:office|lab|clinic|studio|shop|branch)\b"
            r"(?!\s(?:on|tomorrow|next|for|this|at)\b)",
        ),
    ),
    (  # another vehicle
        _any(
            rf"{_I}(?:driving|drive|using|use)\s(?:an?\s)?(?:\w+\s)?(?:rental|hire|loaner|courtesy|borrowed|loan)\b",
            r"\bborrowed\s(?:an?|my\s\w+'s)\s(?:\w+\s)?(?:car|van|bike)\b",
        ),
        _any(
            r"\bback\sfrom\sthe\s(?:garage|workshop|mechanic|repair\sshop|body\sshop)\b",
            r"\b(?:got|have)\s(?:my|our|the)\s(?:own\s)?(?:car|van|bike)\sback\b",
            r"\breturned\sthe\s(?:rental|hire\scar|loaner|courtesy\scar)\b",
        ),
    ),
    (  # other hours
        _any(
            rf"{_MARK}.{{0,60}}{_HOURS}",
            rf"{_HOURS}.{{0,60}}{_MARK}",
        ),
        _any(
            rf"(?:{_I}(?:\w+\s){{0,2}}?|(?:^|,\s)(?:(?:and|now|finally|all)\s){{0,2}})back\s(?:to|on|in)\s(?:(?:my|our)\s(?:\w+\s)?)?{_USUAL}(?:\s(?!my\b|our\b|the\b)\w+)?\s"
            r"(?:hours|shifts?|schedule|timetable|rota|days?|times?|week)\b(?!\s(?:for\b|on\s|next|tomorrow))",
            rf"\b(?:my|our)\s{_USUAL}\s(?:\w+\s)?(?:hours|schedule|timetable|rota)\s(?:apply|are\sback|is\sback|again)\b",
        ),
    ),
    (  # an injury
        _any(
            r"\bon\scrutches\b",
            r"\bin\s(?:a\s|my\s)?(?:cast|sling|plaster|splint|brace)\b",
            r"\bwear(?:ing)?\sa\s(?:cast|sling|splint|brace)\b",
        ),
        _any(
            r"\b(?:crutches|cast|sling|plaster|splint|brace)\s(?:is|are|came|has\scome|have\scome|got)\s(?:finally\s)?"
            r"(?:gone|off|history|removed)\b",
            r"\b(?:crutches|cast|sling|plaster|splint|brace)\s(?:(?:have|has)\s)?(?:went|gone|been\s(?:handed|taken|given))\sback\b",
            r"\b(?:handed|gave|took|brought|returned)\s(?:back\s)?(?:the|my|his|her)\s(?:crutches|sling|splint|brace)\b",
            r"\b(?:off|rid\sof|without)\s(?:the|my|his|her)\s(?:crutches|cast|sling|plaster|splint|brace)\b",
            r"\bback\son\smy\sfeet\b",
        ),
    ),
)  # fmt: skip
"""What passes, and what says that it is over."""
_OF_ANYBODY: Final = (
    _any(r"\bon\scrutches\b", r"\bin\sa\s(?:cast|sling|plaster|splint|brace)\b"),
    _any(
        r"(?<!'s\s)\b(?:crutches|cast|sling|plaster|splint|brace)\s(?:(?:have|has|is|are)\s)?(?:went\sback|gone|came\soff|off)\b",
        r"\b(?:off|rid\sof)\s(?:the|my|his|her)\s(?:crutches|cast|sling|plaster|splint|brace)\b",
    ),
)
"""The same of anybody: "Jamie's on crutches", "the crutches went back to the hospital"."""
_IS_BACK: Final = re.compile(
    r"^(?:the\s|my\s|our\s)?(?P<what>[\w'-]{2,30}(?:\s[\w'-]{2,30})?)\s(?:is|are)\sback\s(?:on|at|in|to|up)\s",
    re.IGNORECASE,
)
"""As in "the school bus is back on Quince Street"."""
_PART: Final = re.compile(
    r"[,;:]\s(?:(?:so|and|but)\s)?|\s(?:so|and|but)\s(?=(?:i|i'm|we|we're|my|this)\b)", re.IGNORECASE
)
_DENIED: Final = re.compile(r"\b(?:not|never|soon|when|if|until|hope|want|will)\b|n't\b|'ll\b|\?", re.IGNORECASE)

_CLOSED_A_DAY: Final = re.compile(
    r"\b(?:closed|closes|shut|shuts)\s(?:early|late|today|yesterday|at\s\w+|on\s\w+day|for\s(?:the\sday|lunch|an?\s\w+|stock\w*|inventory|repairs?|renovation\w*|the\s(?:week|weekend|holidays?|summer|winter)))\b",
    re.IGNORECASE,
)
"""A place that opens again."""


@text_cache(4_096)
def is_for_a_while(text: str) -> bool:
    """Returns whether a statement says of itself that it holds for a while only: "for two weeks", "for now"."""
    if _CLOSED_A_DAY.search(text) is not None or _ONCE.search(text) is not None:
        return True
    return _FOR_A_WHILE.search(text) is not None and _PERFECT.search(text) is None


def is_over(earlier: str, later: str) -> bool:
    """Returns whether a passing state of the speaker is over.

    Args:
        earlier: A statement of the speaker.
        later: A later one of the same speaker.
    """
    if _before(earlier) & _after(later):
        return True
    if max(len(earlier), len(later)) > _CHARS_MAX or _DENIED.search(later):
        return False
    back = _IS_BACK.match(later)
    if back is not None and is_for_a_while(earlier) and back["what"].casefold() in earlier.casefold():
        return True
    before, after = _OF_ANYBODY
    return before.search(earlier) is not None and after.search(later) is not None


@text_cache(4_096)
def _before(text: str) -> frozenset[int]:
    plain = _of_speaker(text)
    return frozenset(place for place, (before, _) in enumerate(_STATES) if before.search(plain))


@text_cache(4_096)
def _after(text: str) -> frozenset[int]:
    plain = _of_speaker(text)
    if _DENIED.search(plain):
        return frozenset()
    return frozenset(place for place, (_, after) in enumerate(_STATES) if after.search(plain))


def _of_speaker(text: str) -> str:
    """What a sentence says of the speaker: its parts without those about others. Empty for a long one."""
    if len(text) > _CHARS_MAX:
        return ""
    parts = _PART.split(text.replace("\u2019", "'"))
    return ", ".join(part for part in parts if not OTHERS.match(part))


def passing_states(text: str) -> frozenset[int]:
    """Returns the states that a statement says something of, by number: so are statements about one found."""
    return _before(text) | _after(text)
