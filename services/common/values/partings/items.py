"""One item of several that is no more, while the others stay: "two cats and a dog", "the dog lives with my ex now".

A statement of several things is marked as soon as one of them is gone, since as a whole it holds no more; what is said
of the others elsewhere stays. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from services.common.values.comparison.slots import is_plain, things_of
from services.common.values.partings.members import ITEM_ENDS, items_of
from services.common.values.reading.clauses import Clause
from services.common.values.reading.people import OTHERS
from services.common.values.words.belongings import PERSONS
from services.common.values.words.lexicon import KIN, SMALL_NUMBERS
from services.common.values.words.nouns import nouns_of
from services.common.values.words.tokens import lemma

_CHARS_MAX: Final = 250
_ONLY_NOW: Final = re.compile(r"^(?:it'?s\s+)?(?:only|just)\s+(?:the\s+)?(.+?)\s+(?:now|left|remain\w*)\W*$", re.I)
_THE: Final = r"(?:(?:the|my|our|any|both\sthe|both\smy|both|all\smy|all\sour|all\sthe)\s)?"
_ITEM: Final = r"(?P<what>[\w'-]{2,30}(?:\s[\w'-]{2,30})?)"
_WE: Final = (
    r"^(?:(?:so|but|and|sadly|unfortunately),?\s)?"
    r"(?:(?:i|we)(?:'ve|'m|'re|\shave|\sam|\sare)?(?:\s(?:now|just|finally|all))?\s)"
)
_ENDS_HERE: Final = (
    r"(?=$|[.,;!]|\s(?:now|out|off|away|in|at|from|because|since|last|this|any\s?more|any\slonger|on|for|up|again|today|yesterday|"
    r"after|as|to|these\sdays|instead)\b)"
)


def _of(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_GONE: Final = _of(
    # What the speaker does without: "we're skipping Pisa", "I leave out the sugar now", "we had to give the dog away".
    rf"{_WE}(?:leave\sout|leaving\sout|left\sout|skip|skipping|dropping|don't\sneed|do\snot\sneed|no\slonger\sneed|gone\soff|went\soff|"
    rf"rehomed|forgotten|let\sgo\sof|parted\swith)\s{_THE}{_ITEM}{_ENDS_HERE}",
    rf"{_WE}(?:had\sto\s)?(?:give|gave|given|leave|leaving|dug|dig|pulled|ripped|tore|threw)\s{_THE}{_ITEM}\s(?:away|out|up)\b",
    rf"{_WE}closed\s{_THE}(?:\w+\s)?(?:account|card|branch)\s(?:at|with)\s{_ITEM}{_ENDS_HERE}",
    rf"^(?:please\s)?(?:take|cross|strike|leave|cut|scratch)\s{_THE}{_ITEM}\s(?:off|out|from)\b",
    rf"\b(?:struck|crossed|scratched)\s{_THE}{_ITEM}\s(?:off|out)\b",
    rf"\b(?:took|taken|put)\sme\soff\s{_THE}{_ITEM}{_ENDS_HERE}",
    # An order takes the item off the list: "scrap the stove", "no more raisins", "swap the jam for honey".
    rf"^(?:(?:ok(?:ay)?|so|and|oh|please|just|actually),?\s){{0,2}}(?:scrap|skip|drop|forget(?:\sabout)?|bin|ditch|omit|remove|delete|cross\s(?:out|off)|"
    rf"strike(?:\s(?:off|out))?|leave\s(?:out|off)|take\s(?:out|off)|no\sneed\sfor|no\smore|don't\s(?:bother\swith|pack|buy|bring|order|include))"
    rf"\s{_THE}{_ITEM}(?=$|[.,;!]|\splease\b|{_ENDS_HERE[3:-1]})",
    rf"^(?:(?:please|so|ok)\s)?(?:swap|replace|exchange)\s{_THE}{_ITEM}\s(?:for|with|by)\b",
    rf"\binstead\sof\s{_THE}{_ITEM}{_ENDS_HERE}",
    rf"\b(?:i|we)\s(?:can|may|should|shall|must|am\sto|are\sto)\s(?:now\s)?(?:stop|drop|leave\sout|skip|discontinue)\s(?:taking\s|using\s)?{_THE}{_ITEM}{_ENDS_HERE}",
    # What was done with it: "Safari is dropped", "astronomy was taken out".
    rf"^{_THE}{_ITEM}\s(?:is|are|was|were|got|has\sbeen|have\sbeen)\s(?:now\s|finally\s)?(?:dropped|axed|scrapped|removed|taken\sout|struck\soff|"
    r"discontinued|phased\sout|no\slonger\ssupported)(?=$|[,.;!]|\s(?:from|since|as\sof|for\sgood|because|after|due\sto|altogether)\b)",
    # Whom it was given to: "returns go to Ahmed".
    rf"^{_THE}{_ITEM}\s(?:go|goes|went|pass|passes|passed|move|moves|moved|(?:is|are)\shandled|(?:is|are)\sdone)\s(?:over\s)?(?:to|by)\s(?-i:[A-Z])[\w-]+(?=$|[,.;!]|\s(?:now|from|since|as\sof|instead))",
    # Who took it: "a fox took the hens".
    rf"^(?:a|an|the)\s(?:fox|hawk|marten|wolf|cat|dog|thief|burglar|storm|flood|fire|frost|repo\sman|bailiffs?)\s(?:took|got|killed|ate|stole|destroyed|caught)\s{_THE}{_ITEM}{_ENDS_HERE}",
    rf"^(?:somebody|someone|thieves|burglars|they)\s(?:took|stole|nicked)\s{_THE}{_ITEM}{_ENDS_HERE}",
)
_OFF_WHOLE: Final = re.compile(
    r"^[^,;:.!?]{2,60}?\s(?:off|from|out\sof)\s(?:the|my|our)\s(?P<whole>[\w-]{2,30}(?:\s[\w-]{2,30})?)", re.IGNORECASE
)
"""From what something is taken: "take Saskia off the billing list"."""
_NOT_IN: Final = re.compile(
    rf"^no\s{_ITEM}\s(?:in|on|with|for)\s(?:the|my|our)\s(?P<whole>[\w-]+)(?=$|[,.;!])", re.IGNORECASE
)
"""As in "no feta in the salad"."""
_ELSEWHERE: Final = re.compile(
    rf"^{_THE}{_ITEM}\s(?:lives?\s(?:with|at)\s.{{2,30}}\snow|is\swith\s.{{2,30}}\snow|(?:has\s)?moved\sin\swith|"
    r"(?:has|have|got|found)\sa\snew\s(?:home|owner)(?!\s\w)|(?:has|have)\sbeen\s(?:rehomed|stolen|adopted)|"
    r"(?:didn't|did\snot)\smake\sit)(?![\w-])",
    re.IGNORECASE,
)
"""Said of an animal or a thing: "the dog lives with my ex now"; people live where they like."""
_IT_GONE: Final = re.compile(
    r"\b(?:remove[ds]?|took|taken|dropp?ed|kicked|delet(?:ed|ing)|struck|threw|thrown|crossed|uninstalled|scrapped)\s(?:it|him|her|them)\s(?:from|off|out\sof)\s"
    r"(?:(?:the|my|our|his|her|their)\s)?(?P<group>[\w-]+(?:\s[\w-]+)?)",
    re.IGNORECASE,
)
"""As in "nobody looks at Nagios, so I removed it from the monitoring stack"."""
_NO_MEMBER: Final = re.compile(
    rf"^{_THE}{_ITEM}\s?(?:'s|\sis|\sare|\shas|\shave|\swas|\swere|\sgot)?(?:\s(?:now|just|finally|been))?\s"
    r"(?:left|quit|leaves|(?:dropp?ed|drops|opted)\sout\sof|out\sof|off|no\slonger\s(?:in|on|part\sof|with)|gone\sfrom|missing\sfrom|removed\sfrom|taken\soff|"
    r"not\s(?:in|on|part\sof)|struck\soff|crossed\soff|kicked\sout\sof|thrown\sout\sof)\s(?:the|my|our|his|her|its|their)\s(?P<group>[\w-]+(?:\s[\w-]+)?)",
    re.IGNORECASE,
)
"""As in "Sami has left the band", "kiwi is off his list"."""
_OTHER_GROUP: Final = re.compile(r"^(?:the|that)\s(?:other|old|second|first)\s", re.IGNORECASE)
_GROUP_IS: Final = re.compile(
    r"^(?:(?:the|my|our)\s[\w-]+(?:\s[\w-]+)?\s(?:is|are|has|have|consists\sof|includes?)\b|"
    r"(?:(?:the|my|our)\s)?[\w-]+(?:\s[\w-]+){0,3}:\s)",
    re.IGNORECASE,
)
_LEAVES: Final = re.compile(
    r"\b(?:left|leaves|quit|out\sof|off|from)\s(?:the|my|our)\s(?P<group>[\w-]+(?:\s(?!and\b|but\b|so\b|last\b|this\b|because\b)[\w-]+)?)(?=$|[,.;!]|\s)",
    re.IGNORECASE,
)
_ANY_GROUP: Final = frozenset({"list", "plan", "menu", "programme", "program", "team", "group", "form", "set", "order"})
_OPEN_ITEMS: Final = re.compile(
    r"\b(?:to-?do(?:-?\s?list)?|lack(?:s|ing)?|needs?|missing|to\s(?:do|buy|get|pay|read|finish|sign|collect)|outstanding|unpaid|waiting\sfor|owes?|left\sto\s\w+|wish\slist)\b",
    re.IGNORECASE,
)
_RECEIVED: Final = re.compile(
    rf"\b(?:had|got|gotten|bought|did|done|finished|paid|received|fetched|signed|collected|picked\sup|ticked\soff|handed\sin)\s{_THE}{_ITEM}"
    r"(?=$|[.,;!]|\s(?:today|yesterday|and|now|last|this|on|at|from|already|too|in|for)\b)",
    re.IGNORECASE,
)
"""What was still to be had or done and now is: "Nils had the tetanus jab today"."""
_DONE: Final = re.compile(
    rf"^{_THE}{_ITEM}\s(?:is|are|'s|has\sbeen|have\sbeen|was|were)\s(?:all\s|now\s|finally\s)?(?:done|finished|sorted|paid|signed|filed|handed\sin|off\sthe\slist)(?![\w-])",
    re.IGNORECASE,
)
"""As in "taxes are done"."""
_FORMS: Final = frozenset("jab shot vaccination form bill book part chapter".split())  # noqa: SIM905 - words
"""Words behind the name of an item: "the tetanus jab"."""
_REMAINING: Final = re.compile(
    r"\b(?:leaves|leaving|left\swith|down\sto|that's\sjust|it's\s(?:just|only)|only|just)\s(?:(?:just|only|me|us|with|the|my|our)\s){0,2}"
    r"(?P<rest>[\w'-]+(?:,\s[\w'-]+){0,5}(?:,?\s(?:and|&)\s[\w'-]+)?)",
    re.IGNORECASE,
)
"""As in "that leaves Mondays and Wednesdays for the reception"."""
_TO_ANOTHER: Final = re.compile(
    rf"^{_THE}{_ITEM}\s(?:has\s)?(?:moved|switched|changed|transferred|gone|went)\s(?:over\s)?to\s(?:another|a\sdifferent|the\sother)\s(?P<group>\w+)",
    re.IGNORECASE,
)
_STAYS_AWAY: Final = re.compile(
    r"^(?:[Tt]he\s)?(?P<what>[A-Z][\w'-]{1,30})\s(?:can't|cannot|can\snot|won't|will\snot|isn't|is\snot)\s"
    r"(?:(?:come|coming)(?!\s(?:home|in|up|down|out|over|back)\b)|make\s(?:it|the\s(?P<occasion>\w+))|be\s(?:there|coming)|attend|attending|join|joining)\b"
)
_GUESTS: Final = re.compile(
    r"\b(?:guests?|invit\w+|come|coming|inviting|attend\w*|party|dinner|trip|wedding|list|join\w*)\b", re.IGNORECASE
)
_MOVED: Final = re.compile(
    r"^(?i:my|our)\s(?P<kin>\w+)\s(?:(?:has\s)?(?:now\s)?(?:moved|relocated)\s(?:\w+\s)?to|(?:now\s)?lives\sin|has\ssettled\sin)\s(?P<place>[A-Z][\w-]+)(?P<now>\snow\b)?"
)
_LIVES: Final = re.compile(r"\b(?P<kin>\w{1,30})\s(?:in|at)\s(?P<place>[A-Z][\w-]{1,40})$")
_DENIED: Final = re.compile(r"\b(?:never|almost|nearly|if|might|maybe|today|tonight|this\smorning)\b|\?", re.IGNORECASE)
_UNSURE: Final = re.compile(
    r"\b(?:never|almost|nearly|if|might|maybe|not|wants?|would|should)\b|n't\b|\?", re.IGNORECASE
)
_OWN: Final = frozenset({"i", "we"})


def loses_an_item(earlier: str, first: Sequence[Clause], later: Sequence[str], second: Sequence[Clause]) -> bool:
    """Returns whether one of several things that a statement names is gone, or somewhere else.

    Args:
        earlier: A statement.
        first: Its clauses.
        later: The pieces of a later statement.
        second: Its clauses.
    """
    items = items_of(earlier)
    is_of_now = first and all(not (clause.historic or clause.past) and is_plain(clause) for clause in first)
    owner = {lemma(str(item)) for clause in first[:1] for item in clause.subject} & PERSONS
    if owner and not owner & nouns_of(" ".join(later)):
        return False  # "the neighbours have ducks"
    if len(items) < 2 or not is_of_now or any(clause.negated for clause in first) or OTHERS.match(earlier):
        return False
    whole = " ".join(later).rstrip(".! ")
    if _leaves_another_group(earlier, items, whole):
        return False
    if any(_is_gone(earlier, items, piece) for piece in later):
        return True
    if len(whole) <= _CHARS_MAX and _UNSURE.search(whole) is None:
        parts = [whole, *(piece.strip().rstrip(".! ") for piece in later)]
        if any(rule(earlier, items, part) for rule in (_has_left, _is_had, _is_rest) for part in parts):
            return True
    return any(_is_denied(a, b, items) for a in first for b in second)


def _is_gone(earlier: str, items: Sequence[str], piece: str) -> bool:
    plain = piece.strip().rstrip(".! ")
    if len(plain) > _CHARS_MAX or _DENIED.search(plain):
        return False
    whole = _OFF_WHOLE.match(plain)
    named = nouns_of(whole["whole"]) - _ANY_GROUP if whole is not None else frozenset()
    if named and not named & nouns_of(earlier):
        return False
    if any(_is_item(what, items) for what in _named(plain)):
        return True
    without = _NOT_IN.match(plain)
    if without is not None and _is_item(without["what"], items) and nouns_of(without["whole"]) <= nouns_of(earlier):
        return True
    elsewhere = _ELSEWHERE.match(plain)
    if elsewhere is not None and not elsewhere["what"][:1].isupper() and not nouns_of(elsewhere["what"]) & KIN:
        return _is_item(elsewhere["what"], items)
    other = _TO_ANOTHER.match(plain)
    if other is not None and _is_item(other["what"], items) and nouns_of(other["group"]) <= nouns_of(earlier):
        return True
    guest = _STAYS_AWAY.match(plain)
    is_there = guest is not None and (guest["occasion"] or "").casefold() in earlier.casefold()
    if guest is not None and is_there and _GUESTS.search(earlier) and _is_item(guest["what"], items):
        return True
    moved = _MOVED.match(plain)
    return moved is not None and any(_lives_elsewhere(item, moved) for item in items)


def _leaves_another_group(earlier: str, items: Sequence[str], later: str) -> bool:
    """Whether an item leaves a group that is not the one of which the earlier statement lists the members."""
    lists = _GROUP_IS.match(earlier)
    leaves = _LEAVES.search(later)
    if lists is None or leaves is None or nouns_of(leaves["group"]) & _ANY_GROUP:
        return False
    is_member = any(_head(item) in nouns_of(later) for item in items)
    return is_member and not nouns_of(leaves["group"]) <= nouns_of(earlier)


def leaves_another_group(earlier: str, later: str) -> bool:
    """Returns whether one of several things leaves another group than the one the earlier statement is about."""
    items = items_of(earlier)
    return len(items) > 1 and len(later) <= _CHARS_MAX and _leaves_another_group(earlier, items, later)


def _has_left(earlier: str, items: Sequence[str], plain: str) -> bool:
    """Whether an item is no more among those of the group that the earlier statement names."""
    match = _NO_MEMBER.match(plain)
    what = match["what"] if match is not None else ""
    if match is None:
        match = _IT_GONE.search(plain)
        named = [item for item in items if match is not None and _head(item) in nouns_of(plain[: match.start()])]
        what = named[-1] if named else ""
    if match is None or not what or not _is_item(what, items):
        return False
    group = nouns_of(match["group"])
    if _OTHER_GROUP.match(earlier) and "other" not in match["group"].casefold():
        return False
    return bool(group) and (group <= nouns_of(earlier) or bool(group & _ANY_GROUP))


def _is_had(earlier: str, items: Sequence[str], plain: str) -> bool:
    """Whether one of several things that were lacking is there now; a name at its beginning is in both statements."""
    match = _RECEIVED.search(plain) or _DONE.match(plain)
    if match is None or _OPEN_ITEMS.search(earlier) is None:
        return False
    what = " ".join(word for word in match["what"].split() if word.casefold() not in _FORMS)
    if not what or not _is_item(what, items):
        return False
    who = plain.split(maxsplit=1)[0]
    return not who[:1].isupper() or who in {"I", "We"} or match.start() == 0 or who in earlier


def _is_rest(earlier: str, items: Sequence[str], plain: str) -> bool:
    """Whether a part of the items is said to be what is left."""
    match = _REMAINING.search(plain)
    if match is None:
        return False
    left = {_head(part.strip()) for part in ITEM_ENDS.split(match["rest"])} - {""}
    heads = {_last(item) for item in items}
    is_clear = match[0].casefold().startswith(("leav", "left", "down"))
    topic = nouns_of(earlier) & nouns_of(plain[match.end() :]) if not is_clear else left
    return bool(left) and left < heads and bool(topic)


def _last(item: str) -> str:
    """The last word of an item in base form: the first of several stands behind what they are items of."""
    words = item.split()
    return lemma(words[-1].casefold()) if words else ""


def _named(plain: str) -> Iterator[str]:
    return (match["what"] for pattern in _GONE if (match := pattern.search(plain)) is not None)


def _is_item(what: str, items: Sequence[str]) -> bool:
    """Whether the last noun of an item is named, and nothing that the item does not say."""
    named = nouns_of(what)
    if not named:
        return False
    is_name = what.strip()[:1].isupper() and what.strip().isalpha()
    return any(
        named <= nouns_of(item) and (_head(item) in named or (is_name and item.strip().startswith(f"{what.strip()} ")))
        for item in items
    )


def _head(item: str) -> str:
    words = re.split(r"\s(?:in|at|of|on|from|with|for|called|named)\s", item)[0].split()
    return lemma(words[-1].casefold()) if words else ""


def _lives_elsewhere(item: str, moved: re.Match[str]) -> bool:
    """Whether an item says where a relative is, and a later statement that they are elsewhere."""
    match = _LIVES.search(item)
    if match is None or match["kin"].casefold() not in KIN or match["kin"].casefold() != moved["kin"].casefold():
        return False
    return match["place"] != moved["place"]


def _is_denied(a: Clause, b: Clause, items: Sequence[str]) -> bool:
    """Whether the same is denied of one item: "the choir doesn't sing in Welsh any more"."""
    if not (b.negated and b.changed and is_plain(b)) or b.past or a.verb != b.verb or not a.verb:
        return False
    subjects = [frozenset(map(str, clause.subject)) for clause in (a, b)]
    is_same = subjects[0] == subjects[1] or (subjects[0] <= _OWN and subjects[1] <= _OWN)
    things = {str(item) for item in things_of(b)}
    return bool(is_same and subjects[0] and things) and any(
        things <= nouns_of(item) and _head(item) in things for item in items
    )


def is_left_of_several(clauses: Sequence[Clause], pieces: Sequence[str]) -> bool:
    """Returns whether a piece says what is left of several things: "only the two cats now" after "two cats and a dog".

    Args:
        clauses: Those of the earlier statement.
        pieces: Those of the later one.
    """
    for piece in pieces:
        match = _ONLY_NOW.match(piece)
        left = nouns_of(match[1]) - SMALL_NUMBERS.keys() if match else frozenset()
        if left and any(
            clause.verb == "have" and not clause.negated and left < {str(item) for item in things_of(clause)}
            for clause in clauses
        ):
            return True
    return False
