"""Events in other words than others are compared with: "we took Mina out of the choir" is "Mina left the choir"."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import MONTHS, SMALL_NUMBERS, VERBS, WEEKDAYS
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma

_CHARS_MAX: Final = 250
_BACK_TO: Final = re.compile(
    r"^(?P<who>I|We)(?:'m|'re|\sam|\sare|'ve\sgone|\shave\sgone|\swent|'ve\sgot|\sgot)(?:\s\w+ly)?\sback\s(?:to|into)\s"
    r"(?P<deed>[a-z]{2,20}ing)\b(?P<rest>[^.!]{0,200})",
    re.IGNORECASE,
)
"""As in "I'm back to taking the train": what is done now is said by the gerund."""
_ORDER_BACK: Final = re.compile(
    r"^(?:(?:please|just|let's)\s)?(?:go|come|switch|change|get)\sback\sto\s(?P<deed>[a-z]{2,20}ing)\b"
    r"(?P<rest>[^,;:.!?]{0,100}?)(?:,?\s(?:please|again|as\sbefore|thanks))*[.!]?$",
    re.IGNORECASE,
)
"""As in "go back to writing to me in English"."""
_TAKEN_OUT: Final = re.compile(
    r"\b(?:i|we|they|he|she)(?:'ve|\shave|\shas)?(?:\s(?:just|finally|now|already))?\s(?:took|taken|pulled|withdrew|withdrawn|removed|moved)\s"
    r"(?P<who>(?-i:[A-Z])[\w-]{1,30}|(?:my|our)\s[\w-]{2,20}|me|us)\s(?:out\sof|from|away\sfrom)\s(?P<what>(?:the\s)?(?-i:[A-Z])[^,;:.!?]{1,40}?)"
    r"(?=\s(?:over|at|in|on|last|this|after|because|since|when|and|but|for|to|before|during)\b|[,;:.!?]|$)",
    re.IGNORECASE,
)
"""As in "we took Mina out of St Anne's"."""
_LAST_DAY: Final = re.compile(
    r"(?:^last\s|\b(?:(?:today|yesterday|last\s(?:night|week)|that|this|it|\w{3,6}day)\s(?:was|is)|had)\smy\s(?:very\s)?last\s)(?:day|night|week|shift|lesson|class|session|rehearsal)\s"
    r"(?:at|with|for|in)\s(?P<what>(?:the\s)?[^,;:.!?]{2,40}?)(?=\s(?:and|but|after|because|so|today|yesterday)\b|[,;:.!?]|$)",
    re.IGNORECASE,
)
"""As in "that was my last day at Corvex"."""
_WRONG_ABOUT: Final = re.compile(
    r"^(?:(?:sorry|oh|actually|correction|wait|no),?\s)?(?:i|we)(?:'d|\shad)?\s(?:was|were|got|been|have\sbeen)\s(?:it\s)?(?:wrong|mistaken|mixed\sup)\s(?:about|on|with)\s"
    r"(?P<what>[^,;:.!?]{2,60})[,;:]?\s(?:-\s)?(?:and\s|but\s)?(?P<be>it's|it\sis|they're|they\sare|it\swas)\s(?P<value>[^;:.!?]{1,80})",
    re.IGNORECASE,
)
"""As in "I was wrong about Tom's birthday, it's April 14"."""
_JUST_NOW: Final = re.compile(
    r"\s(?:(?:about\s)?(?:an?|half\san|a\sfew|two|three|four|five|six|ten|\d{1,2})\s(?:hours?|minutes?)\sago|a\smoment\sago|just\snow)(?=$|[,.;!])",
    re.IGNORECASE,
)
"""When something happened on the same day: "the board killed it an hour ago"."""
_RESOLVED: Final = re.compile(
    r"\b(?:(?:resolved|decided|voted|agreed)(?:\s[\w-]{2,12}){0,3}\sto)\s(?:dissolved?|disband(?:ed)?|close[d]?(?:\sdown)?|wind\sup|wound\sup|shut(?:\sdown)?|scrap(?:ped)?|"
    r"abolish(?:ed)?|discontinued?|sell|sold)\s(?P<what>(?:the|our|my)\s[\w-]{2,30}(?:\s(?!with\b|by\b|from\b|as\b|at\b|on\b|in\b|and\b|for\b)[\w-]{2,30})?)",
    re.IGNORECASE,
)
"""As in "the members resolved to dissolve the bridge club"."""
_ENGAGEMENT_OFF: Final = re.compile(
    r"\b(?:the|our|my)\s(?:engagement|wedding)(?:\s(?:to|with)\s[\w-]{2,30})?(?:'s|\sis|\swas|\shas\sbeen)\s(?:now\s)?(?:off|called\soff|cancell?ed|broken\soff)\b|"
    r"\b(?:i'm|i\sam|we're|we\sare)\s(?:not\sgetting\smarried|no\slonger\s(?:engaged|getting\smarried))(?:\safter\sall|\sany\s?more)?",
    re.IGNORECASE,
)
_SAY_NOW: Final = re.compile(
    r"^(?:they|he|she)\s(?:say|says|tell\sme|tells\sme)\snow\s(?:that\s)?(?=(?:the|my|our|it)\s)", re.IGNORECASE
)
"""As in "they say now the man comes on Tuesday": what was told before holds no more."""
_SAY_CHANGE: Final = re.compile(
    r"^(?:(?:(?:just\s)?(?:one|a|another|the\sonly)\s)?(?:[a-z-]+\s)?(?<!no\s)changes?|(?:one\s|a\s)?new)"
    r"(?P<since>\s(?:from|as\sof|as\sfrom|starting|beginning|since)\s[^:;.!?]{2,40}?|(?<!new)\s(?:to|in)\s(?:the|my|our)\s[\w\s-]{2,30})?:\s(?=\w)",
    re.IGNORECASE,
)
"""As in "one change from this sprint onwards: we cut releases from main"."""
_ONCE_MORE: Final = re.compile(r"\b(?:once\smore|anew)\b", re.IGNORECASE)
_FROM_TODAY: Final = re.compile(
    r"\b(?:in\s)?(?P<span>(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,3}|a\scouple\sof)\s(?:days?|weeks?|months?|years?|fortnight)|a\sfortnight)"
    r"\sfrom\s(?:today|now)\b(?!\son)",
    re.IGNORECASE,
)
_NO_APOSTROPHE: Final = re.compile(
    r"\b(?:(?P<be>i(?=m\b))m|(?P<have>i|we|they|you)ve|(?P<is>he|she|that|what|there)s|(?P<are>they|you)re|"
    r"(?P<not>do|does|did|is|are|was|has|have|would|could|should|ca|wo)nt)(?=\s)",
    re.IGNORECASE,
)
"""Short forms as people type them: "im", "shes", "dont"."""
_MONTH: Final = "|".join(map(re.escape, MONTHS))
_DATE: Final = rf"(?:{_MONTH})\s\d{{1,2}}|(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?:{_MONTH})"
_DAY: Final = rf"(?:(?:{'|'.join(WEEKDAYS)}|{_DATE})\b)"
_BARE_DAY: Final = CachedPattern(
    rf"(?<=[a-z])(?P<be>\sis|'s|\swas)(?P<adverb>\s(?:actually|really|now)|)\s(?={_DAY})", re.IGNORECASE
)
_ON_DAY: Final = CachedPattern(rf"(?:\sis|'s|\swas)(?:\s(?:actually|really|now))?\son\s(?={_DAY})", re.IGNORECASE)
_IN_ONE: Final = re.compile(r"\bin\sa\s(?P<unit>week|fortnight)(?:'s\stime)?\b", re.IGNORECASE)
_MINUTES: Final = {"fifteen": "15", "thirty": "30", "forty-five": "45"}
_HALF_PAST: Final = re.compile(
    r"\b(?P<at>at|from|until|till|by|before|after)\s(?P<hour>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s(?P<minute>fifteen|thirty|forty-five)\b(?!\s(?:minutes|people|euros|pounds|dollars))",
    re.IGNORECASE,
)
"""As in "at seven thirty"."""
_ONE: Final = {"week": "one week", "fortnight": "two weeks"}
_HAS: Final = re.compile(
    r"(?<=[a-z])'s\s(?=(?:now\s|just\s|finally\s)?(?:left|died|moved|folded|emigrated|retired|quit|resigned|been)\b)",
    re.IGNORECASE,
)
"""As in "Pieter's left the band"."""
_IS: Final = re.compile(
    r"(?<=[a-z])'s\s(?=(?:now\s|just\s|finally\s)?(?:shut|closed|gone|sold|burnt|burned|stolen|archived|cancelled|canceled|deleted|scrapped|axed|decommissioned|history|dead)\b)",
    re.IGNORECASE,
)
"""As in "the hall's shut down"."""
_GOT: Final = re.compile(
    r"\b(?:got|get|gets)\s(?=(?:moved|postponed|rescheduled|delayed|pushed|brought|put|shifted|changed|renamed|replaced|raised|lowered|reduced|increased|cut|"
    r"shortened|extended|swapped|cancelled|canceled|scrapped|axed|dropped|shelved|repaired|fixed|mended|closed|reopened|painted|transferred|promoted|stolen|sold)\b)",
    re.IGNORECASE,
)
"""As in "the meeting got moved to Friday"."""
_DISCHARGED: Final = re.compile(
    r"\b(?:they|the\s(?:hospital|clinic|doctors?|ward))(?:'ve|\shave|\shas)?\s(?:discharged|released)\s(?P<who>(?:(?:my|our)\s)?[\w-]{2,20})",
    re.IGNORECASE,
)
"""As in "they discharged Mum this morning"."""
_BOOTS: Final = re.compile(
    r"^(?:(?:i|we)(?:'ve|\shave)?\s)?hung\sup\smy\s(?:boots|skates|racket|gloves|whistle|cleats|trainers)\b",
    re.IGNORECASE,
)
_WRITTEN_OFF: Final = re.compile(
    r"\bwrote\s(?P<what>(?:the|my|our)\s[\w-]{2,30}(?:\s[\w-]{2,20})?)\soff\b", re.IGNORECASE
)
"""As in "the insurance wrote the Corolla off"."""
_NOT_GOING: Final = re.compile(
    r"\b(?:i'm|i\sam|we're|we\sare)\snot\sgoing\sto\s(?P<place>(?-i:[A-Z])[\w-]{2,30})\s(?:any\s?more|after\sall)\b",
    re.IGNORECASE,
)
_LOST: Final = re.compile(
    r"\b(?:my|our)\s(?P<what>[a-z]{3,30}),?\s(?:[\w'-]{1,20},?\s){0,8}?(?:total\sloss|a\swrite-?off|beyond\srepair)\b",
    re.IGNORECASE,
)
"""As in "a tree fell on our caravan, flat like a pancake, total loss"."""
_OFFERED: Final = re.compile(
    r"^(?:(?:the|my|our)\s)?[\w' ]{1,40}\s(?:(?:asked|invited)\sme\sto\s(?:take\sover|take\son|become|be)|"
    r"offered\sme|(?:was|been)\soffered)\s"
    r"(?P<post>(?:as\s)?[\w-]+(?:\s(?!(?:in|on|at|from|last|this|and|but)\b)[\w-]+){0,4})\b"
    r"[^;.]{0,60}?(?:,|\s(?:and|so|but)\b)(?:[^;.]{0,40}?,)?\s?(?:i(?:'ve|\shave)?\s|(?<=\sand\s))"
    r"(?:gladly\s|happily\s)?(?:accepted|agreed|said\syes|took\sit)\b",
    re.IGNORECASE,
)
"""A post that was offered and accepted: "the governors asked me to take over the headship, and I accepted"."""
_POST: Final = re.compile(
    r"^(?:as\s|(?:the\s|a\s|an\s)?(?:post|job|role|position)\s(?:of|as)\s)(?:the\s|an?\s)?", re.IGNORECASE
)
_DOING_AGAIN: Final = re.compile(
    r"^(?P<who>I|We)(?:'m|'re|\sam|\sare)\s(?P<deed>[a-z]{2,20}ing)\b(?P<rest>[^,;:.!?]{1,80}\bagain\b)", re.IGNORECASE
)
"""As in "I'm reading my books on paper again", without what is said beside it."""

_MINE: Final = CachedPattern(
    r"\b(?P<whose>mine|ours)\s(?=(?:is|are|has|have|costs?|runs?|starts?|takes?)\b)", re.IGNORECASE
)
_OWN_THING: Final = re.compile(
    r"^(?:my|our)\s(?P<what>[a-z]{2,20}(?:\s[a-z]{2,20})?)\s(?:is|are|has|have|costs?|runs?|starts?|takes?)\b",
    re.IGNORECASE,
)
_WITH_NEW: Final = re.compile(
    r"^(?:with|since|thanks\sto|after)\s(?:the|my|our)\snew\s[\w-]{2,30}(?:\s[\w-]{2,30})?,?\s(?=(?:i|we)\s)",
    re.IGNORECASE,
)
"""Why something is so by then: "with the new magnifier I can read small print"."""
_SHORT_NAME: Final = re.compile(
    r"^(?P<name>[A-Za-z][\w-]{2,20})\s(?=(?:is|has|was|starts|begins|ends|moved|moves|now|got|costs)\b)"
)
_CLASS: Final = re.compile(
    r"^(?i:my|our|the)\s(?P<name>[\w-]{3,21})\s(?:class|lesson|practice|session|training|rehearsal|course|group|club|circle)(?=\s)"
)
_OF_THEM: Final = re.compile(r"^(?:her|his)\s(?=\w+\s(?:at|in|with)\s)", re.IGNORECASE)
_THEY_LEFT: Final = re.compile(r"^[A-Z][\w-]{1,30}\s(?:has\s)?left\s(?=[A-Z])")


@text_cache(4_096)
def in_plain_words(text: str) -> str:
    """Returns a statement with such an event in plain words, and others as they are.

    "I'm back to taking the train" becomes "I take the train now".
    """
    plain = _JUST_NOW.sub("", text.replace("\u2019", "'"))
    if len(plain) > _CHARS_MAX:
        return text
    match = _BACK_TO.match(plain)
    if match is not None and lemma(match["deed"].casefold()) in VERBS:
        return f"{match['who']} {lemma(match['deed'].casefold())}{match['rest'].rstrip()} now"
    wrong = _WRONG_ABOUT.match(plain)
    if wrong is not None:
        be = "are" if wrong["be"].casefold().startswith("they") else "is"
        return f"{wrong['what']} {be} {wrong['value'].rstrip()} now"
    resolved = _RESOLVED.search(plain)
    if resolved is not None:
        return f"{resolved['what']} is dissolved"
    plain = _ENGAGEMENT_OFF.sub(r"\g<0>, we broke off the engagement", _ONCE_MORE.sub("again", plain))
    says = _SAY_NOW.match(plain) or _SAY_CHANGE.match(plain)
    if says is not None:
        said, comma, remark = plain[says.end() :].rstrip(".! ").partition(",")
        return f"{said} now{comma}{remark}"
    plain = _IS.sub(" is ", _HAS.sub(" has ", _GOT.sub("was ", plain)))
    if _BOOTS.search(plain) is not None:
        return "I no longer play"
    plain = _DISCHARGED.sub(r"\g<who> is discharged", plain)
    off = _WRITTEN_OFF.search(plain)
    if off is not None:
        return f"{off['what']} is a total loss"
    place = _NOT_GOING.search(plain)
    if place is not None:
        return f"our {place['place']} trip is cancelled"
    offered = _OFFERED.match(plain)
    if offered is not None:
        return f"I took over {_POST.sub('as ', offered['post'])}"
    again = _DOING_AGAIN.match(plain)
    if again is not None and lemma(again["deed"].casefold()) in VERBS:
        return f"{again['who']} {lemma(again['deed'].casefold())}{again['rest']}"
    lost = _LOST.search(plain)
    if lost is not None:
        return f"our {lost['what']} is a total loss"
    order = _ORDER_BACK.match(plain)
    if order is not None and lemma(order["deed"].casefold()) in VERBS:
        return f"Please {lemma(order['deed'].casefold())}{order['rest'].rstrip()} again"
    taken = _TAKEN_OUT.search(plain)
    if taken is not None:
        who = {"me": "I", "us": "We"}.get(taken["who"].casefold(), taken["who"])
        return f"{plain[: taken.start()]}{who} left {taken['what']}{plain[taken.end() :].partition(',')[0]}"
    last = _LAST_DAY.search(plain)
    if last is not None:
        return f"{plain[: last.start()]}I have left {last['what']}{plain[last.end() :]}"
    return plain if plain != text.replace("\u2019", "'") else text


@text_cache(4_096)
def with_apostrophes(text: str) -> str:
    """Returns a statement with the apostrophes that people leave out: "im on the stall", "she doesnt smoke"."""
    return _NO_APOSTROPHE.sub(_with_apostrophe, text)


def _with_apostrophe(match: re.Match[str]) -> str:
    ends = {"be": "'m", "have": "'ve", "is": "'s", "are": "'re", "not": "n't"}
    group = str(match.lastgroup)
    return f"{match[group]}{ends[group]}"


@text_cache(4_096)
def with_plain_times(text: str) -> str:
    """Returns a statement with "in three weeks" for "three weeks from today", and "in two weeks" for "in a fortnight".

    "From today" would be read as a word that something is new.
    """
    text = _HALF_PAST.sub(
        lambda match: f"{match['at']} {SMALL_NUMBERS[match['hour'].casefold()]}:{_MINUTES[match['minute'].casefold()]}",
        text,
    )
    return _IN_ONE.sub(lambda match: f"in {_ONE[match['unit'].casefold()]}", _FROM_TODAY.sub(r"in \g<span>", text))


def with_days_alike(earlier: str, later: str) -> tuple[str, str]:
    """Returns two statements with "on" before their days: "the meeting is Tuesday", "the meeting is on Thursday"."""
    if _ON_DAY.search(earlier if _BARE_DAY.search(later) else later) is None:
        return earlier, later
    one, other = (_BARE_DAY.pattern.sub(r"\g<be>\g<adverb> on ", text) for text in (earlier, later))
    return one, other


def as_own(earlier: str, later: str) -> tuple[str, str]:
    """Returns two statements as the one whom they are about would say them: "her choir at ...", "Mina left ..."."""
    owner, leaver = _OF_THEM.match(earlier), _THEY_LEFT.match(later)
    if owner is None or leaver is None:
        return earlier, later
    return f"My {earlier[owner.end() :].partition(', so ')[0]}", f"I left {later[leaver.end() :]}"


def without_cause(text: str) -> str:
    """Returns a statement without the new thing that made it so, which says nothing of how long it holds."""
    return _WITH_NEW.sub("", text)


def with_full_name(earlier: str, later: str) -> str:
    """Returns a later statement with the full name of the earlier one: "my yoga class is on Fridays" for "yoga is ...".

    Args:
        earlier: A statement that opens with a class, a lesson or the like.
        later: A later one.
    """
    short = _SHORT_NAME.match(later)
    full = _CLASS.match(earlier) if short is not None else None
    if short is None or full is None or short["name"].casefold() != full["name"].casefold():
        return later
    return f"{full[0]} {later[short.end() :]}"


def with_own_noun(earlier: str, later: str) -> str:
    """Returns a later statement with the noun of the earlier one for "mine": "they moved the desks, mine is new"."""
    mine = _MINE.search(later)
    thing = _OWN_THING.match(earlier) if mine is not None else None
    if mine is None or thing is None:
        return later
    before = {lemma(word.casefold().strip(".,;:!")) for word in later[: mine.start()].split()}
    if lemma(thing["what"].split()[-1].casefold()) not in before:
        return later
    owner = "our" if mine["whose"].casefold() == "ours" else "my"
    return f"{later[: mine.start()]}{owner} {thing['what']} {later[mine.end() :]}"
