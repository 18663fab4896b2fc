"""What the speaker leaves behind, named by the later statement beside what takes its place. Pure functions.

"I play the guitar" ends with "the guitar hangs on the wall, I've moved over to the bass", "our drummer is Nacho" with
"Nacho left for Madrid". The old value must be named; what happened, relatives and friends stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.comparison.slots import has_got
from services.common.values.model import Modality
from services.common.values.reading.clauses import Clause
from services.common.values.reading.people import OTHERS
from services.common.values.words.lexicon import KIN, MULTIPLE_ROLES, POSSESSIVES, PRONOUNS, VERBS
from services.common.values.words.nouns import TIMES, nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma

_CHARS_MAX: Final = 250
_OWNERS: Final = frozenset(POSSESSIVES.values())
_ADVERBS: Final = r"(?:\s(?:now|all|finally|just|since|meanwhile|completely|officially|already|sadly|both))?"
_GIVEN_UP: Final = re.compile(
    rf"(?:^|[\s,])(?:(?:i|we)(?:'ve|\shave|'m|\sam|\sare|'re)?{_ADVERBS}\s)?"
    r"(?:gave\sup\son|given\sup\son|moved\s(?:on|away|over)\sfrom|done\swith|had\senough\sof|fed\sup\swith|parted\sways\swith|"
    r"ditched|dumped|binned|axed|jacked\sin|packed\sin|walked\saway\sfrom|turned\smy\sback\son|weaned\s(?:myself\s)?off|"
    r"swapped|traded(?:\sin)?|replaced|cancelled|canceled|hung\sup|outgrew|outgrown|retired|"
    r"no\smore|goodbye\sto|farewell\sto|put\saway|packed\saway|passed\son)"
    r"\s(?P<what>(?:[\w'-]{1,40}\s){0,5}?[\w'-]{1,40})(?=$|[,.;!]|\s(?:for|with|by|and|last|on|in|at|this|since|because|after|yesterday|today|to|but|so|from)\b)",
    re.IGNORECASE,
)
_GONE_BY_ITSELF: Final = re.compile(
    r"(?:^|[,;:]\s|\b(?:with|since|because|as|and|but|so|now\sthat|once)\s)(?P<what>(?:[\w'-]+\s){1,5}?)"
    rf"(?:(?:has|have|is|are|was|were|got|went|'s){_ADVERBS}\s)?"
    r"(?:shut(?:\sdown|\s(?:its|their)\sdoors)?(?=$|[,.;!\s])|closed(?:\sdown|\sfor\sgood)?|folded|went\sbust|"
    r"(?:gone\s|went\s)?(?:straight\s)?(?:in|into|to)\sthe\s(?:bin|dump|tip|skip|attic|scrapyard|charity\sshop|landfill|cupboard)|"
    r"(?:hangs?|hanging)\son\sthe\swall|(?:gathers?|gathering|collects?|collecting)\sdust|"
    r"and\s(?:i|we)\s(?:have\s|are\s)?(?:parted\sways|done|finished|fell\sout|split)|"
    r"gave\sup\sthe\sghost|packed\sup|bit\sthe\sdust|history|toast|long\sgone|(?:up\s)?for\ssale|on\s(?:ebay|gumtree|craigslist|vinted))(?![\w-])",
    re.IGNORECASE,
)
_LEFT_A_POST: Final = re.compile(
    r"(?:^|[,;:]\s|\b(?:with|since|because|as|and|but|so|now\sthat|once)\s)(?P<what>(?:[\w'-]+\s){1,5}?)"
    rf"(?:(?:has|have|is|are|was|were|'s){_ADVERBS}\s)?"
    r"(?:left(?=$|[,.;!]|\s(?:for|us|last|this|after|and|town|the\s(?:band|company|firm|team|club|school|choir|practice)))|"
    r"retires?|retired|retiring|resigned|leaving|sold\sup|stepped\sdown|stood\sdown|moved\s(?:away|abroad|on|to)|emigrated|died|"
    r"(?:has\s)?hung\sup\s(?:his|her|their)\s(?:gloves|boots|whistle|apron|baton|hat|robe|gown|skates|racket|bat|stethoscope|scrubs|uniform|badge)|went\semeritus|(?:gone|went|moved|switched|transferred)(?:\sover)?\sto\s(?:the|a|another)\s[\w-]+\s(?:team|department|group|company)|(?:moved|transferred|sent|posted|relocated|seconded)(?:\sover)?\sto\s(?:the|a|another)\s[\w-]+\s(?:branch|office|site|plant)|"
    r"handed\s(?:over\s)?(?:the|his|her|their)\s(?:books|reins|baton|gavel|purse|whistle|armband|post|job)"
    r"\s(?:over\s|on\s)?to\s[\w' -]{2,30}?(?=$|[,.;!]|\s(?:at|in|on|last|this|after|because|and)\b)|"
    r"quit|no\slonger\s(?:does|works|teaches|plays|leads|runs|coaches)|on\s(?:maternity|parental|sick)\sleave)(?![\w-])",
    re.IGNORECASE,
)
"""Said of the holder of a post."""
_TAKEN_UP: Final = re.compile(
    r"\b(?:(?:(?:switched|moved|migrated|changed|transferred|converted|defected|upgraded|downgraded)"
    r"\s(?:(?:over|across|back|all|on)\s)?|(?:gone|went|crossed)\sover\s)to|registered\swith|"
    r"signed\s(?:up\s)?with|enrolled\s(?:at|in)|taken\sup|took\sup|settled\son)\s(?P<what>(?:[\w'-]+\s?){1,5})",
    re.IGNORECASE,
)
_WITHOUT: Final = re.compile(
    r"\blet\s(?:the|my|our)\s(?P<what>[\w'-]{2,30}(?:\s[\w'-]{2,30})??)\s(?:pass|ticket|card|subscription|membership|contract|licen[cs]e|plan)\s"
    r"(?:expire|lapse|run\sout|end)\b|"
    r"\b(?:hundred\sdays|weeks|months?|years?)\s(?:now\s|today\s|already\s)?without\s(?:(?:an?|any|one|the|my)\s)?(?:single\s)?(?P<what2>[\w'-]{2,30})\b",
    re.IGNORECASE,
)
"""As in "let the tram pass expire", "three months without sugar"."""
_WENT_OVER: Final = CachedPattern(
    r"\b(?P<what>(?:every|all\s(?:the|my|our)|the|my|our)\s[\w'-]{2,30}(?:\s[\w'-]{2,30})??)(?:\s(?:has|have))?(?:\s(?:all|now|just|finally))?\s"
    r"(?:went|gone|moved|migrated|switched|transferred)\s(?:over|across)\sto\s(?P<new>(?:the\s)?[\w'-]{2,30})",
    re.IGNORECASE,
)
"""As in "every pipeline went across to the new runners"."""
_BROUGHT_OVER: Final = CachedPattern(
    r"\b(?:moved|migrated|transferred|switched|ported|converted|brought)\s(?P<what>(?:all\s(?:of\s)?)?(?:the|my|our|everything)"
    r"(?:\s[\w'-]+){0,3}?)\s(?:from\s(?:[\w'-]+\s){1,3})?(?:over\s|across\s)?to\s(?P<new>(?:the\s)?[\w'-]+)",
    re.IGNORECASE,
)
"""What is used for something is now another: "moved all my notes over to Obsidian"."""
_TAKEN_OVER: Final = re.compile(
    r"\b(?:took|taken|takes|taking)\sover\s(?P<what>(?:[\w'-]{1,40}\s){0,3}?[\w'-]{1,40})\sfrom\s(?:me|us)\b|"
    r"\bhanded\s(?P<what2>(?:[\w'-]{1,40}\s){0,3}?[\w'-]{1,40})\s(?:over\s)?to\s(?!me\b|us\b)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"(?:\b(?:not|never|nearly|almost|yet|without|no)|n't)\s(?:\w+\s){0,2}$", re.IGNORECASE)
_OF_ANOTHER: Final = re.compile(r"(?:his|her|their|your)\b", re.IGNORECASE)
_BEFORE: Final = CachedPattern(
    r"\b(?:i|we)\s(?:had|used\sto)\b|\b(?:years|months)\sago\b|\bas\sa\s(?:kid|child)\b", re.IGNORECASE
)
_BY_ANOTHER: Final = re.compile(
    rf"(?:^|[,.;:]\s)(?:my|our)\s(?:\w+\s)?(?:{'|'.join(sorted(KIN))}|flatmate|roommate|housemate|friend|neighbou?r|colleague|boss)\s?"
    r"(?:has|have|had|'s)?\s?$",
    re.IGNORECASE,
)
"""Somebody else gives it up."""
_BESIDE: Final = CachedPattern(r"\b(?:too|also|as\swell|besides|both|another|second|once|twice)\b", re.IGNORECASE)
_GENERIC: Final = frozenset(
    "membership subscription account licence license contract lesson class place job course team club old".split()  # noqa: SIM905 - words
)
"""Words beside the name of what is given up: "my IronWorks membership"."""
_POSSESSED: Final = frozenset(
    """
    use play study learn drive wear take ride rent smoke have own eat drink go work live train read watch run keep grow
    print write sing speak get be teach coach practise practice bank pay
    """.split()  # noqa: SIM905 - words
)
"""Verbs of a state or a habit that goes on until something takes its place."""


def is_left_behind(clauses: Sequence[Clause], pieces: Sequence[str], later: str) -> bool:
    """Returns whether the later statement says that what the earlier one names is left behind.

    Args:
        clauses: Of the earlier statement.
        pieces: Of the later one.
        later: The later one as a whole.
    """
    if len(later) > _CHARS_MAX or _BEFORE.search(later) or _BESIDE.search(later):
        return False
    if _is_brought_over(clauses, later):
        return True
    named = nouns_of(later)
    olds = [(clause, old) for clause in clauses for old in _values(clause) if old <= named]
    return any(_is_left(clause, old, pieces, later) for clause, old in olds)


def _is_left(clause: Clause, old: frozenset[str], pieces: Sequence[str], later: str) -> bool:
    for gone, is_of_post in _left(later):
        if old <= gone and gone - _GENERIC - old <= _known(clause) and (not is_of_post or _is_post(clause, old)):
            return True
    for piece in pieces:
        match = _TAKEN_UP.search(piece)
        if match is None or _DENIED.search(piece[: match.start()]) or OTHERS.search(piece):
            continue
        if old & nouns_of(match["what"]):
            continue
        subject = piece[: match.start()].split()
        is_own = not subject or subject[0].casefold() in {"i", "we", "i've", "we've", "our", "my"} or _has_we(subject)
        if is_own and _stands_before(old, later, match["what"]):
            return True
    return False


def _is_brought_over(clauses: Sequence[Clause], later: str) -> bool:
    match = _BROUGHT_OVER.search(later) or _WENT_OVER.search(later)
    if match is None or _DENIED.search(later[: match.start()]) or OTHERS.search(later):
        return False
    thing, new = nouns_of(match["what"]) - {"everything", "every"}, nouns_of(match["new"])
    known = [_known(clause) for clause in clauses if _is_lasting(clause)]
    return bool(thing) and any(thing <= words and not new & words for words in known)


def _is_lasting(clause: Clause) -> bool:
    is_stated = clause.modality is Modality.STATED and not (clause.historic or clause.negated or clause.past)
    is_own = not clause.possessors and not _words(clause.subject) & (KIN | MULTIPLE_ROLES)
    return is_stated and is_own and clause.verb in _POSSESSED and len(clause.rest) > 0


def _has_we(words: Sequence[str]) -> bool:
    return any(word.casefold() in {"i", "i've", "we", "we've", "our"} for word in words)


def _stands_before(old: frozenset[str], later: str, new: str) -> bool:
    """Whether the old value is named before the new one, so that it is no later remark."""
    return old <= nouns_of(later[: later.find(new)])


@text_cache(4_096)
def _left(later: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """What a statement says to be left behind, and whether it is said of the holder of a post."""
    found: list[tuple[frozenset[str], bool]] = []
    for pattern in (_GIVEN_UP, _GONE_BY_ITSELF, _LEFT_A_POST, _TAKEN_OVER, _WITHOUT):
        for match in pattern.finditer(later):
            what = match["what"] or match.groupdict().get("what2") or ""
            is_by_another = pattern is _GIVEN_UP and _BY_ANOTHER.search(later[: match.start() + 1]) is not None
            if (
                _DENIED.search(later[: match.start()])
                or OTHERS.search(what)
                or _OF_ANOTHER.match(what)
                or is_by_another
            ):
                continue
            found.append((nouns_of(what), pattern is _LEFT_A_POST))
    return tuple((nouns, is_of_post) for nouns, is_of_post in found if nouns)


def _values(clause: Clause) -> Iterator[frozenset[str]]:
    """What the speaker has, uses or does by a statement, or who holds a post."""
    if clause.modality is not Modality.STATED or clause.historic or clause.negated or clause.possessors:
        return
    if clause.past and not has_got(clause):
        return
    owners = {item for item in clause.subject if item in _OWNERS}
    is_about_owner = bool(owners & {"i", "we"}) or not clause.subject or "the" in clause.words[:1]
    if not is_about_owner or _words(clause.subject) & (KIN | MULTIPLE_ROLES):
        return
    if clause.verb not in _POSSESSED:
        return
    for item in clause.rest:
        words = _words([item])
        if clause.verb == "be" and words and words <= _name_words(clause) and {"and", "&"} & set(clause.words):
            yield from (frozenset({word}) for word in words)  # "the committee is Alun, Megan and Dai"
        if words and not words & (KIN | MULTIPLE_ROLES):
            yield frozenset(words)


def _is_post(clause: Clause, old: frozenset[str]) -> bool:
    """Whether a clause names who holds a post: "our drummer is Nacho"."""
    is_liked = bool({"favourite", "favorite"} & set(clause.words))
    return clause.verb == "be" and not is_liked and bool(_words(clause.subject)) and bool(old & _name_words(clause))


def _name_words(clause: Clause) -> set[str]:
    return {word for name in clause.names for word in name.split()}


def _known(clause: Clause) -> frozenset[str]:
    return frozenset(_words([*clause.subject, *clause.rest])) | {lemma(word) for word in clause.words}


def _words(items: Sequence[object]) -> set[str]:
    words = {lemma(word) for item in items if isinstance(item, str) for word in item.split()}
    return {word for word in words if word not in VERBS | TIMES | PRONOUNS | _OWNERS}
