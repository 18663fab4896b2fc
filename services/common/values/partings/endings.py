"""What goes with a thing that is no more: plans for a project that was scrapped, walks with a dog that died.

A statement goes where it names what ended and says something of the present or of what shall be. What happened stays,
and so does what is said of a namesake. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.model import Modality
from services.common.values.reading.clauses import Clause
from services.common.values.reading.people import is_deed_of_person
from services.common.values.words.belongings import PERSONS
from services.common.values.words.lexicon import KIN, MONTHS, PARTS_OF_DAY, SEASONS, WEEKDAYS
from services.common.values.words.nouns import meal_in, nouns_of
from services.common.values.words.quantities import Token
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_CHARS_MAX: Final = 250
_ADVERBS: Final = r"(?:\s(?:been|now|finally|just|already|all|sadly|officially))*"
_GONE: Final = re.compile(
    rf"^(?P<thing>[\w'\s-]{{2,60}}?)(?:"
    rf"(?:(?:\s(?:has|have)|'s|'ve){_ADVERBS})?\s(?:died|passed\saway|shut\sdown|closed\s(?:down|for\sgood|its\sdoors|their\sdoors)|"
    r"shut\s(?:its|their)\sdoors|(?:went|gone)\s(?:bust|bankrupt|under|out\sof\sbusiness)|filed\sfor\sbankruptcy|burn(?:ed|t)\sdown|"
    r"fell\s(?:through|apart)|fallen\sthrough|folded|disbanded|dissolved|collapsed|left\sme(?!\s(?:an?|the|with|some|my|his|her|two|three)\b)|moved\sout|ran\saway|"
    r"(?:went|gone|moved|returned|flew)\s(?:back\s|home\s|away\s|abroad\s)?(?:to\s[\w'-]{2,30}(?:\s[\w'-]{2,30})?\s)?for\sgood|"
    r"(?:moved|went|gone)\s(?:in\s)?(?:to|with)\s(?:his|her|its|their|a)\snew\s(?:family|home|owners?|people)|"
    r"crossed\sthe\srainbow\sbridge|no\slonger\s(?:exists?|works?\shere)|split\sup|broken?\sup|broke\sup|separated)|"
    rf"(?:\s(?:is|are|was|were|got|has|have)|'s|'ve){_ADVERBS}\s(?:dead(?=$|[,.;:!]|\s(?:now|since|and|because|so|but|after|as)\b)|gone(?=$|\s(?:since|for\sgood|now|forever))|no\smore|cancell?ed|axed|"
    r"scrapped|called\soff|dissolved|disbanded|wound\sup|shut\sdown|closed\s(?:down|for\sgood)|bankrupt|stolen|written\soff|totalled|"
    r"wrecked|demolished|torn\sdown|decommissioned|switched\soff|discontinued|abandoned|shelved|mothballed|abolished|terminated|withdrawn|wound\sdown|put\s(?:down|to\ssleep)|"
    r"euthani[sz]ed|no\slonger\swith\sus|divorced))(?![\w-])",
    re.IGNORECASE,
)
_OFF: Final = re.compile(
    r"^(?P<thing>[\w'\s-]{0,50}\b(?:wedding|engagement|marathon|race|trip|holiday|vacation|party|concert|tour|deal|project|move|dinner|"
    r"match|tournament|festival|course|sale|purchase|interview|ceremony|flight|cruise|merger|launch|release|conference|class|lesson|"
    r"training|rehearsal|play|show|exhibition)(?:\s(?:to|in|at|with)\s(?:the\s|my\s|our\s)?[\w'-]{2,30})?)\s(?:is|are)\s(?:off|over|history)(?![\w-])",
    re.IGNORECASE,
)
_ENDED_BY: Final = re.compile(
    r"(?:^|\s)(?:lost(?=\s(?:the|our)\s(?:\w{1,30}\s){1,3}(?:account|contract|client|customer|deal|tender|sponsorship)\b)|(?:stopped|halted|ended|suspended|discarded)(?=\s(?:the\s)?(?:\w+\s)?(?:project|programme|campaign|trial|pilot|study|experiment|series|partnership|cooperation)\b)|"
    r"cancell?ed|scrapped|axed|abolished|banned|killed|terminated|withdrew|did\saway\swith|pulled\sthe\splug\son|called\soff|dropped(?!\s(?:(?:my|our|the)\s)?\w{1,30}\s(?:off\s)?at\b)|gave\sup|given\sup|quit|sold|closed\sdown|shut\sdown|discontinued|dissolved|"
    r"got\srid\sof|threw\s(?:away|out)|gave\saway|donated|stole|wrecked|crashed|wrote\soff|buried|mothballed|sunset(?:ted)?|laid\sto\srest|decommissioned|switched\soff|"
    r"broke\sup\swith|split\s(?:up\s)?(?:with|from)|divorced|left|withdrew\sfrom|pulled\sout\sof|resigned\s(?:from|at)|finished\swith|"
    r"(?:was|were|got|been)\s(?:laid\soff|fired|sacked|made\sredundant)\s(?:at|by|from)|handed\sin\smy\s(?:notice|resignation|badge|pass|laptop|uniform)\s(?:at|to)|gave\s(?:my\s)?notice\s(?:at|to)|dropped\sout\sof|retired\sfrom|"
    r"forbade|forbidden|ruled\sout|vetoed|(?<=storm\s)took|(?<=fire\s)took|(?<=flood\s)took|(?<=river\s)took|(?<=sea\s)took|unsubscribed\sfrom|moved\sout\sof|moved\saway\sfrom)\s"
    r"(?P<thing>(?:[\w'-]{1,40}\s){0,5}?[\w'-]{1,40})(?=$|[,.;]|\s(?:yesterday|today|last|this|on|in|at\sthe\send|because|since|after|for|and|from|before|too|"
    r"as|with|due|when|when|finally|now|by)\b)",
    re.IGNORECASE,
)
_SOLD_TO: Final = re.compile(
    r"(?:^|\s)(?:sold|donated|gave\saway)\s(?P<thing>(?:[\w'-]+\s){1,5}?)(?=(?:to|for|off)\s)", re.IGNORECASE
)
"""What somebody else has now."""
_TIE: Final = re.compile(
    r"\b(?:sold|donated|gave\saway|got\srid|broke\sup|split|divorced|separated|left\sme|moved\sout|finished\swith|"
    r"(?:i|we)(?:'ve|\shave)?(?:\s(?:finally|just|now|already))?\s(?:cancell?ed|dropped|gave\sup|given\sup|quit|left|withdrew|pulled\sout|"
    r"resigned)|laid\soff|fired|sacked|made\sredundant|handed\sin|resigned|dropped\sout)\b",
    re.IGNORECASE,
)
"""The speaker has nothing to do with it any more, and it goes on to be."""
_LEFT: Final = re.compile(r"\b(?:quit|left|resigned|retired\sfrom|dropped\sout)\b", re.IGNORECASE)
_MOVED: Final = re.compile(r"\bmoved\sout\b|\sfor\sgood$", re.IGNORECASE)
"""Somebody lives or works there no more."""
_PARTED: Final = re.compile(
    r"\b(?:broke\sup|broken\sup|split|divorced|separated|left\sme|finished\swith)\b", re.IGNORECASE
)
_PARTNERS: Final = frozenset(
    "boyfriend girlfriend husband wife partner fianc\u00e9 fianc\u00e9e fiance fiancee".split()  # noqa: SIM905 - words
)
_OWN_STATES: Final = frozenset(
    """
    drive own sell study live work collect speak teach buy attend wear read visit belong come open build make
    sponsor call
    """.split()  # noqa: SIM905 - words
)
"""With another subject these say what somebody else has or does."""
_NO_DOING: Final = re.compile(
    r"(?:^|[,;:]\s)no\s(?:more\s)?(?P<deed>\w{3,15}ing)\b(?!\s(?:for\s\w+\s(?:day|week)|today|tonight|until|till|this\sweek))",
    re.IGNORECASE,
)
_BY_PARTNER: Final = re.compile(
    r"\b(?:my|our|the)\s(?:\w+\s)?(?:client|customer|supplier|vendor|competitor|tenant|landlord|landlady|accountant|neighbou?rs?)\s(?:(?:has|have)\s)?$",
    re.IGNORECASE,
)
"""Somebody else's doing: "our client [left Mailchimp]"."""
_AT_HOME: Final = frozenset("room rent key kitchen fridge bathroom bed shelf bill laundry dish share garage".split())  # noqa: SIM905
"""A statement with one of these says what somebody does at home."""
_DENIED: Final = re.compile(r"(?:\b(?:not|never|nearly|almost|without)\b|n't\b)", re.IGNORECASE)
_OF_ANOTHER: Final = re.compile(
    rf"\b(?:his|her|their|your)\b|\b(?:my|our)\s(?:{'|'.join(sorted(KIN))}|friend|neighbou?r|colleague|boss|flatmate|roommate)(?:'s)?\b|\w's\s(?!(?:has|is|was|had)\b)\w",
    re.IGNORECASE,
)
_GENERIC: Final = frozenset(
    """
    project host server job trip plan studio team club company shop membership contract subscription account
    journey logistic group ltd inc gmbh partner food system service consulting
    university college school
    holiday flight hotel restaurant bar pub firm agency client customer supplier course class machine box cat dog horse
    nursery kindergarten playgroup gym salon bakery cafe café cinema theatre league society charity account line route
    hamster rabbit tortoise parrot car van boat bike programme program order booking reservation management
    """.split()  # noqa: SIM905 - words
)
"""What a name is often put behind: the name alone is as good."""
_LASTING: Final = frozenset(
    "like love know hate miss remember prefer think believe admire trust recommend be have".split()  # noqa: SIM905 - words
)
"""Verbs that hold for a person or thing whatever became of it."""
_SPEAKER: Final = re.compile(r"\b(?:i|i'm|i've|i'll|we|we're|we've|we'll|me|us|my|our)\b", re.IGNORECASE)
_ATTRIBUTES: Final = WEEKDAYS | PARTS_OF_DAY | SEASONS
_DAYS: Final = WEEKDAYS | frozenset(MONTHS) | {"i"}


_SEVERAL: Final = frozenset(
    "two three four five some many several most all both another everybody everyone somebody someone".split()  # noqa: SIM905 - words
)

_BODIES: Final = frozenset(
    """
    management council police parliament government congress hr finance marketing sales legal ops security leadership
    parents investors headquarters hq customs uefa fifa brussels
    """.split()  # noqa: SIM905 - words
)
"""Whose capital at the beginning of a sentence is none of a name."""


class _Ended(NamedTuple):
    words: frozenset[str]  # all of them name it
    is_named: bool  # by a name
    is_tie: bool = False  # it goes on to be, without the speaker
    is_parted: bool = False  # the speaker and a partner have parted
    is_left: bool = False  # the speaker left it, and it goes on for others
    is_moved: bool = False  # somebody lives there no more
    doers: frozenset[str] = frozenset()  # who had done with it, where that is not the speaker
    others: frozenset[str] = frozenset()  # further capitalised words of its name: "Club"


def goes_with_it(clauses: tuple[Clause, ...], earlier: str, pieces: tuple[str, ...]) -> bool:
    """Returns whether a statement names what a later one says is no more, or does what is done no more.

    Args:
        clauses: Of the earlier statement.
        earlier: The earlier statement.
        pieces: Clauses of the later statement, of the same speaker.
    """
    if len(earlier) > _CHARS_MAX:
        return False
    ended = [found for piece in pieces for found in _ended(piece)]
    deeds = {lemma(match["deed"].casefold()) for piece in pieces for match in _NO_DOING.finditer(piece)}
    for clause in clauses:
        if (
            clause.modality not in {Modality.STATED, Modality.HEDGED}
            or clause.historic
            or clause.past
            or clause.perfect
        ):
            continue
        if clause.verb in deeds and set(clause.subject) <= {"i", "we"} and not _DENIED.search(earlier):
            return True
        if any(_is_about(clause, earlier, one) for one in ended):
            return True
    return False


@text_cache(4_096)
def _ended(piece: str) -> tuple[_Ended, ...]:
    if len(piece) > _CHARS_MAX:
        return ()
    return tuple(_read(piece.strip().rstrip(".! ")))


def _read(piece: str) -> Iterator[_Ended]:
    patterns = (_GONE, _OFF, _SOLD_TO) if _SOLD_TO.search(piece) else (_GONE, _OFF, _ENDED_BY)
    for pattern in patterns:
        match = pattern.search(piece)
        if match is None or _DENIED.search(piece[: match.end()]):
            continue
        if _OF_ANOTHER.search(piece[: match.end("thing") if pattern is _GONE else match.end()]):
            continue
        if pattern is _ENDED_BY and _BY_PARTNER.search(piece[: match.start() + 1]):
            continue
        for thing in re.split(r"\sand\s(?:i|me)\b|\band\b", match["thing"]):
            found = _thing(thing, is_opening=not match.start("thing"))
            if found is not None:
                yield found._replace(
                    doers=_doers(piece[: match.start()]) if pattern is _ENDED_BY else frozenset(),
                    is_tie=_TIE.search(match[0].strip()) is not None or _TIE.search(piece) is not None,
                    is_parted=_PARTED.search(match[0]) is not None,
                    is_left=_LEFT.search(match[0]) is not None,
                    is_moved=_MOVED.search(match[0]) is not None,
                )


def _doers(before: str) -> frozenset[str]:
    """Who stands before a verb as somebody else than the speaker: by a name, or as one of several."""
    words = [token for token in tokenize(before) if token.lower not in PUNCTUATION]
    if len(words) == 1 and words[0].lower in _BODIES:
        return frozenset()
    if not words or _SPEAKER.search(before) or any(map(str.isupper, (token.text for token in words))):
        return frozenset()
    is_somebody = words[0].lower in _SEVERAL or (len(words) < 3 and words[-1].text[:1].isupper())
    return frozenset(token.lower for token in words) if is_somebody else frozenset()


def _thing(text: str, *, is_opening: bool) -> _Ended | None:
    """What names a thing: its name, without the noun before it, else its nouns; None where it has none."""
    tokens = [token for token in tokenize(text) if token.lower not in PUNCTUATION]
    nouns = (nouns_of(text) | meal_in(text)) - {"'s"}
    nouns |= {
        one.lower for one, two in pairwise(tokens) if one.lower in _ATTRIBUTES and lemma(two.lower) in nouns
    }  # "the Friday market"
    names = {
        lemma(token.lower)
        for number, token in enumerate(tokens)
        if token.text[:1].isupper()
        and token.lower not in _DAYS
        and (number or not is_opening or _is_name(tokens, number))
    }
    head = nouns_of(re.split(r"\s(?:to|in|at|with|from|on)\s", text)[0]) - {"'s"}
    if 1 < len(head) < len(nouns):
        return _Ended(frozenset(head), is_named=False)  # "the choir trip [to Prague]"
    named = (names & nouns) - _GENERIC
    if named and nouns - named <= _GENERIC:
        return _Ended(frozenset(named), is_named=True, others=frozenset(names - named))
    specific = nouns - _GENERIC
    words = specific if specific and len(nouns) > 1 and nouns - specific <= {"host", "server", "project"} else nouns
    return _Ended(frozenset(words), is_named=False) if words else None


def _is_name(tokens: Sequence[Token], number: int) -> bool:
    """Whether a capital that opens a sentence is one of a name: nothing stands before it that a noun would need."""
    return number == 0 and tokens[0].lower not in {
        "the",
        "my",
        "our",
        "a",
        "an",
        "this",
        "that",
        "no",
        "all",
        "somebody",
    }


def _is_about(clause: Clause, text: str, ended: _Ended) -> bool:
    """Whether a clause says something of the present in which what ended takes part."""
    said = {lemma(word) for word in clause.tokens}
    said |= {part for word in said if "-" in word for part in word.split("-")}
    if not ended.words <= said:
        return False
    if ended.doers and not {lemma(word) for word in ended.doers} & said:
        return False
    owners = {
        lemma(word)
        for word, after, _ in zip(clause.tokens, clause.tokens[1:], clause.tokens[2:], strict=False)
        if after == "'s"
    }
    if owners and not owners & ended.words:
        return False
    subject = {word for item in clause.subject for word in str(item).split()}
    is_partner = ended.is_parted and ended.words <= said and bool(said & _PARTNERS)
    if subject & (KIN | {"friend", "neighbour", "colleague", "he", "she", "they"}) and not is_partner:
        return False
    is_mover = (
        ended.is_moved and ended.words <= subject and bool(_AT_HOME & said)
    )  # "my flatmate Gideon pays half of the bill"
    if ended.is_tie and not is_partner and not is_mover and is_deed_of_person(clause):
        return False
    if ended.is_left and not ended.is_parted and subject & ended.words and not _SPEAKER.search(text):
        return False  # "the bakery has good rye", where the speaker quit it
    is_own = set(clause.subject) <= {"i", "we"} or "i" in clause.subject or "we" in clause.subject
    is_speaker = set(clause.subject) <= {"i", "we"}
    if not is_speaker and not is_partner and _is_anothers(clause, text, ended, subject, owners):
        return False
    if ended.is_named and not owners:
        if clause.verb in _LASTING and is_own and clause.verb not in {"have", "be"}:
            return False
        is_of_itself = subject <= ended.words and clause.verb in {"be", "have"}
        is_thing = (
            re.search(rf"\b(?:the|my|our)\s(?:\w+\s)?{re.escape(next(iter(ended.words)))}", text, re.IGNORECASE)
            is not None
        )
        return (
            is_thing
            or (not is_of_itself and (is_own or _SPEAKER.search(text) is not None or bool(subject - ended.words)))
            or (not ended.is_tie and subject <= ended.words and clause.verb not in _LASTING)
            or (ended.is_moved and subject - PERSONS - {"i", "we"} <= ended.words and bool(_AT_HOME & said))
        )
    return clause.verb not in _LASTING - {"be", "have", "meet"}


def is_of_another_party(clause: Clause, piece: str) -> bool:
    """Returns whether the speaker gave something up, and a clause says what somebody else has of it."""
    subject = {word for item in clause.subject for word in str(item).split()}
    if set(clause.subject) <= {"i", "we"} or not _TIE.search(piece):
        return False
    if _PARTED.search(piece) and clause.verb == "call":
        return not subject & _PARTNERS
    return clause.verb in _OWN_STATES and not subject & nouns_of(piece)


def _is_anothers(clause: Clause, text: str, ended: _Ended, subject: set[str], owners: set[str]) -> bool:
    """Whether it says what somebody else has of a thing, or what another thing of the name is.

    "My tutor drives a Fiat Panda", once the speaker's own is sold; "the Alpine garden", once the Alpine Club is left.
    """
    if ended.is_parted and clause.verb == "call":
        return True  # another one of the name
    if not ended.is_tie or owners & ended.words:
        return False
    if subject and not subject & ended.words and clause.verb in _OWN_STATES:
        return True
    words = [token.text for token in tokenize(text)]
    for word, after in pairwise(words):
        if lemma(word.casefold()) in ended.words and ended.others:
            is_whole = lemma(after.casefold()) in ended.others | ended.words
            if not is_whole and after[:1].isalpha() and lemma(after.casefold()) not in _GENERIC and after[:1].isupper():
                return True
            if not is_whole and lemma(after.casefold()) in nouns_of(after) and not _SPEAKER.search(text):
                return True
    return False
