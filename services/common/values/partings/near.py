"""What somebody does for the speaker or with them, or is to them; it ends when they go. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from services.common.values.reading.people import OTHERS
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.whose import RELATIVES, people_in, spoken, turned_to
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma

_LEFT_WORK: Final = re.compile(
    r"\bi\s(?:have\s|has\s)?(?:left|quit)\s(?:the\s)?(?:company|firm|team|department|agency|studio|practice|school|job)\b"
)
_AT_WORK: Final = frozenset("share work sit commute lunch carpool pair".split())  # noqa: SIM905 - words
"""What is done with a colleague."""
_EMIGRATED: Final = re.compile(r"\bi\s(?:have\s|has\s)?(?:emigrated|moved\s(?:abroad|overseas))\b")
_FOR_ME: Final = frozenset(
    "pick water drive feed clean walk mow fix help teach bring collect look cut cook babysit mind".split()  # noqa: SIM905
)
_FOR_US: Final = frozenset(
    """
    sign approve run do handle manage look order book process check review write answer open lock deliver maintain
    update host edit proofread organise organize keep pay chase deploy release monitor cover chair moderate test design
    audit file print plan schedule invoice translate type staff prepare bake serve iron wash tidy service
    """.split()  # noqa: SIM905 - words
)
"""What somebody does at a post: "Ilse signs off our invoices"."""
_OFFICE: Final = frozenset(
    {"minutes", "invoices", "payroll", "bookings", "rota", "register", "accounts", "bookkeeping"}
)
_AT_HOME: Final = frozenset("neighbour neighbor lodger flatmate roommate housemate partner".split())  # noqa: SIM905
"""What somebody is whose work is another matter."""
_SERVING: Final = frozenset("train coach manage lead treat tutor sit deputise supervise mentor nurse".split())  # noqa: SIM905
_WITH_ME: Final = frozenset("share meet train play run swim commute drive live cook".split())  # noqa: SIM905 - words
"""What somebody does for the speaker, and with them: it ends when they leave the country."""
_GONE: Final = re.compile(
    r"\bi\s(?:have\s|has\s)?(?:retired(?!\s(?:early|hurt|to\s(?:bed|my))\b)|resigned|emigrated|relocated|"
    r"left\s(?:for\s(?:good|[A-Z][\w-]{1,20})|(?:the|my)\s(?:company|firm|team|department|practice|surgery|school|agency|club|clinic|studio|country|town|city|profession)|us\b)|"
    r"(?:flew|flown|gone|went)\s(?:back\s|home\s){1,2}(?:to\s[A-Z]|for\sgood)|"
    r"moved\s(?:on\b(?!\sto\s(?!(?:an?|another)\s(?:\w+\s)?(?:job|company|firm|post|position|role|team|school|club|employer)\b))|away|abroad|(?:back\s|over\s|down\s|up\s)?to\s[A-Z][\w-]{1,20})|"
    r"(?:sold|shut|closed|hung\sup|put\saway|packed\s(?:up|away)|cleaned\sout|cleared(?:\sout)?|handed\sover|gave\sup|given\sup|wound\sup)\s(?:the\s(?=practice|surgery|salon|studio|garage|firm|clinic|school|shop)|my\s)"
    r"(?!(?:car|house|flat|hair|coat|shopping|toys|clothes|lunch|plate|eyes|mouth|bike|dog|cat)\b)\w|"
    r"(?:gone|went|moved|switched)\s(?:over\s|back\s)?to\san?\s(?:[\w-]{2,20}\s){1,3}(?:in|at)\s[A-Z]|"
    r"(?:got|taken|took|found|accepted|started)\s(?:a|another)\s(?:new\s)?(?:job|post|position)\b)|"
    r"\bi\s(?:is|was|got|(?:has|have)\sbeen)\s(?:retired|transferred|promoted|relocated|let\sgo(?!\s(?:through|of|first|in|back|ahead|home|out|to|early)\b)|laid\soff|fired(?!\s(?:up|at|off|out)\b)|sacked|replaced)\b"
)
"""Whoever goes like this does for the speaker no more what they did."""
_LEFT_POST: Final = re.compile(
    r"\bi\s(?:have\s|has\s)?(?:quit(?=\s[.,;!]|\s(?:last|on|in|yesterday|today|this|because|and)\b)|(?:resigned|retired(?!\s(?:early|hurt|to\s(?:bed|my))\b)|walked\sout)\b|(?:stepped|stood)\sdown\b(?!\s(?:from|as|off|to)\b)|left\s(?:us|them)(?=\s[.,;!]|\s(?:(?:yesterday|today)(?!\s's)|last|on)\b)|moved\son\b(?!\sto\b)|"
    r"(?:handed|gave)\s(?:in\s)?(?:my|the|their)\s(?:notice|resignation)\s(?:[\w']{1,20}\s){0,3}?and\s(?:i\s)?(?:is|was|has)\s(?:already\s|now\s)?(?:gone|left|off)\b)|"
    r"\bi\s(?:is|was|got|(?:has|have)\sbeen)\s(?:let\sgo(?!\s(?:through|of|first|in|back|ahead|home|out|to|early)\b)|laid\soff|fired(?!\s(?:up|at|off|out)\b)|sacked|made\sredundant|transferred|poached)\b|"
    r"\bi\s(?:do|does)\s(?:not|n't)\swork\s(?:here|there|for\s(?:us|them)|with\s(?:us|them))\sany\s?(?:more|longer)\b|"
    r"\bi\s(?:no\slonger\sworks?|is\sno\slonger)\s(?:here|for\s(?:us|them)|with\s(?:us|them))\b"
)
"""Whoever goes like this has their post no more."""
_AT_POST: Final = (
    r"(?:\s(?:with\s(?:them|us|the\s(?:company|firm|team|studio|practice|school|band|club))|here|at\s(?:work|the\s(?:company|firm|office|studio|practice|surgery|school|shop|clinic))|"
    r"in\sthe\s(?:office|team|shop|studio)|on\sthe\s(?:team|desk|job)))?"
)
_LAST_DAY: Final = re.compile(
    rf"\b(?:(?:today|this)\s(?:was|is)|(?:yesterday|last\s(?:night|week|\w{{3,6}}day)|that|it|\w{{3,6}}day)\swas)\smy\s(?:very\s)?last\s(?:day|shift|week){_AT_POST}"
    r"(?:\s(?:on\s)?(?:\w{3,6}day|yesterday|today|last\s(?:week|month)))?(?=\s[.,;:!]|\s(?:and|but|so|before\sretiring)\s)|"
    rf"\bmy\s(?:very\s)?last\s(?:day|shift|week){_AT_POST}\swas\s(?:on\s|last\s)?(?:yesterday|today|\w{{3,6}}day|week|month|the\s\w+)(?=\s[.,;:!]|\s(?:and|but|so)\s)",
    re.IGNORECASE,
)
"""As in "yesterday was my last day with them"; a day that is to come is none yet."""
_ACCESS: Final = re.compile(
    r"^(?P<who>[\w-]{2,30}) (?:still |also )?(?:has|holds|keeps|carries) (?:an?|the|our|full|admin|root)? ?"
    r"(?:[\w-]{2,20} )?(?:key|keys|badge|access|login|account|password|pass|permission|rights|licence|license|parking) "
    r"(?:to|for|of|on|in) (?:the|our) "
)
"""What somebody can open or enter."""
_BRIEFLY: Final = CachedPattern(
    r"\bfor\s(?:(?:two|three|four|five|six|some|several|\d{1,2})\s(?:days|weeks|months)|the\s(?:day|night|week|weekend|summer|winter)|a\s(?:\w+\s)?(?:days?|weeks?|while|holiday|conference|meeting))\b|\b(?:holidays?|vacation|until|till|back\son)\b",
    re.IGNORECASE,
)
_ROLES: Final = frozenset(
    """
    doctor gp dentist cardiologist dermatologist specialist orthodontist paediatrician vet physio therapist midwife
    nurse carer teacher tutor coach trainer instructor mentor conductor manager boss supervisor lead leader chief head
    deputy assistant secretary colleague partner cleaner nanny childminder
    babysitter sitter hairdresser barber gardener lawyer accountant adviser advisor agent contact lodger flatmate
    roommate housemate neighbour neighbor captain editor tester
    """.split()  # noqa: SIM905 - words
)
"""What somebody is to the speaker as long as they are there."""


def leaves_the_near(earlier: str, later: str) -> bool:
    """Returns whether somebody who does something with or for the speaker has gone far away, or left their work.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
    """
    people = [person for person in people_in(later) if not _is_introduced(person, earlier, later)]
    if any(_EMIGRATED.search(turned_to(later, person)) and _is_near(earlier, person) for person in people):
        return True
    if any(_LEFT_WORK.search(turned_to(later, person)) and _is_near(earlier, person, _AT_WORK) for person in people):
        return True
    if _BRIEFLY.search(later) is not None:
        return False
    for person in people:
        said = turned_to(later, person)
        has_left = _LEFT_POST.search(said) or _LAST_DAY.search(said)
        if (has_left and _is_of_post(earlier, person)) or (
            (has_left or _LEFT_WORK.search(said)) and _has_access(earlier, person)
        ):
            return True
    return any(
        _GONE.search(turned_to(later, person))
        and (_has_role(earlier, person) or (person not in RELATIVES and _has_post(earlier, person)))
        for person in dict.fromkeys((*people, *_holders(earlier)))
    )


def _is_introduced(person: str, earlier: str, later: str) -> bool:
    """Whether a later statement says whose somebody is, as of one not spoken of before: "my colleague Nina"."""
    words, known = spoken(later).lower().split(), spoken(earlier).lower().split()
    place = words.index(person) if person in words else 0
    return place > 1 and words[place - 2] in {"my", "our"} and words[place - 1] in RELATIVES - set(known)


def _holders(earlier: str) -> list[str]:
    """The words behind "my doctor is": those of a name, also in small letters."""
    words = spoken(earlier).lower().split()
    place = words.index("is") if "is" in words[:5] else len(words)
    return [word for word in words[place + 1 : place + 4] if len(word) > len("dr") and word.isalpha()]


def _has_role(earlier: str, person: str) -> bool:
    """Whether a statement says what somebody is to the speaker, or does for them: "my doctor is Dr Pell"."""
    words = spoken(earlier).lower().split()
    place = words.index("is") if "is" in words else 0
    if words[:1] in (["my"], ["our"]) and words[place - 1] in _ROLES and place < 5:
        return person in words[place + 1 : place + 4] and "not" not in words
    return any(
        not (clause.past or clause.negated or clause.historic)
        and clause.verb in _FOR_ME | _SERVING
        and person in {word for item in clause.subject for word in str(item).split()}
        for clause in read_statement(earlier).clauses
    )


def _is_of_post(earlier: str, person: str) -> bool:
    """Whether a statement says what somebody is, does or has to do with the speaker at their post."""
    if person in RELATIVES or OTHERS.match(earlier) or _AT_HOME & set(spoken(earlier).lower().split()):
        return False
    return _has_post(earlier, person) or _has_role(earlier, person) or _is_near(earlier, person, _AT_WORK)


def _has_post(earlier: str, person: str) -> bool:
    """Whether a statement says what somebody does or is for us: "Ilse signs off our invoices", "Ilse is our vet"."""
    return any(
        (
            clause.verb in _FOR_US
            or clause.words[:2] == (person, "does")
            or bool(_OFFICE & set(clause.words))
            or (clause.verb == "be" and bool(_ROLES & set(clause.words)))
        )
        and not (clause.past or clause.negated or clause.historic)
        and person in {word for item in clause.subject for word in str(item).split()}
        and bool({"our", "my"} & set(spoken(earlier).lower().split()))
        for clause in read_statement(earlier).clauses
    )


def _has_access(earlier: str, person: str) -> bool:
    """Whether a statement says what somebody can open or enter at their work: "Ignatz has a key to the server room"."""
    match = _ACCESS.match(spoken(earlier).lower().strip())
    return match is not None and match["who"] == person


def _is_near(earlier: str, person: str, deeds: frozenset[str] = _WITH_ME) -> bool:
    """Whether a statement says what somebody does for the speaker or with them, where they live."""
    for clause in read_statement(earlier).clauses:
        subject = {word for item in clause.subject for word in str(item).split()}
        if clause.past or clause.negated or clause.historic:
            continue
        opening = [lemma(word) for word in spoken(earlier).lower().split()[1:3]]
        if clause.words[:1] == (person,) and _FOR_ME & set(opening):
            return True
        with_whom = {
            word for item in clause.rest if clause.prepositions.get(item) == "with" for word in str(item).split()
        }
        if {"i", "we"} & subject and clause.verb in deeds and person in with_whom:
            return True
    return False
