"""Private matters that people name by one word and tell in others: "my debts", "I owe the bank". Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from services.common.values.complements import KIN
from services.common.values.lexicon import AUXILIARIES, PRONOUNS, STOP
from services.common.values.tokens import lemma


def _told(*words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])", re.IGNORECASE)


_AM: Final = r"(?:i'm|i\sam|im|i\swas|i\shave\sbeen|i've\sbeen|i\sgot|we're|we\sare)\s(?:an?\s)?(?:\w+\s)?"
_AMOUNT: Final = r"\s?(?:kg|kilos|cm|km|minutes|hours|days|euros|pounds|dollars|%)"
_TOLD: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "debt loan",
        ("owe", "owes", "owed", "loans?", "overdraft", "overdrawn", "creditors?", "arrears", "in debt", "repayments?"),
    ),
    (
        "salary wage income earning earn pay",
        ("earn", "earned", "salary", "wages?", "income", "payslip", "my pay", "pay rise", "a raise"),
    ),
    (
        "medication medicine pill tablet drug prescription",
        (r"\d+\s?mg", "pills?", "tablets?", "medicines?", "medication", "antidepressants?", "prescription", "dose"),
    ),
    (
        "illness disease diagnosis health condition sickness",
        (
            "diagnosed",
            "diagnosis",
            "disease",
            "syndrome",
            "cancer",
            "tumou?r",
            "diabetes",
            "diabetic",
            "depression",
            "depressed",
            "anxiety",
            "hiv",
            "epilepsy",
            "epileptic",
            "biopsy",
            "chronic",
            "chemo",
            "symptoms?",
            "burnout",
        ),
    ),
    ("depression burnout", ("depressed", "depression", r"burn(?:ed|t)\sout", "burnout", "antidepressants?")),
    (
        "pregnancy pregnant",
        ("pregnant", "pregnancy", "expecting", "midwife", "ultrasound", "miscarriage", "trimester", "ivf"),
    ),
    (
        "religion religious faith belief church",
        (
            rf"{_AM}(?:muslim|christian|catholic|protestant|methodist|jewish|hindu|sikh|buddhist|atheist|baptist|quaker)",
            r"member\sof\s(?:the|a)\s\w+\s(?:church|parish|congregation)",
            "baptised",
            "converted to",
            "i pray",
            "confession",
            r"go\sto\s(?:the\s)?(?:church|mosque|synagogue|temple|mass)",
        ),
    ),
    (
        "politics political party vote election",
        (
            "voted?",
            "vote for",
            "party member",
            r"member\sof\sthe\s\w+\sparty",
            "campaign(?:ed|ing) for",
            "canvass(?:ed|ing)?",
        ),
    ),
    (
        "sexuality orientation gay",
        ("gay", "lesbian", "bisexual", "queer", "trans", "transgender", "came out", "coming out", "asexual"),
    ),
    ("age", (rf"{_AM}\d{{1,3}}(?!{_AMOUNT})", "i was born", "i turned")),
    ("address home", ("i live (?:at|in|on)", "we live (?:at|in|on)")),
    ("phone telephone mobile", ("my (?:mobile|cell|phone|number)", "(?:reach|call|ring|text) me (?:on|at)")),
    ("weight", ("i weigh", "i weighed", r"(?:lost|gained|put\son)\s\w+\s(?:kilos|kg|pounds|stone)")),
    (
        "therapy therapist psychologist counselling",
        ("therap(?:y|ist|ists)", "psycholog(?:y|ist)", "psychiatrist", "counsell(?:or|ing)"),
    ),
    (
        "argument quarrel fight row dispute",
        (
            "argu(?:ed|ment|ing)",
            "quarrel(?:led)?",
            "row with",
            "fought",
            "fell out",
            "falling-?out",
            "not speaking",
            "aren't speaking",
        ),
    ),
    (
        "gambling gamble",
        ("casino", "bets?", "betting", "gambl(?:e|ed|er|ers|ing)", "poker", "slot machines?", "roulette", "bookmaker"),
    ),
    (
        "drinking alcohol alcoholism",
        ("drunk", "sober", "alcohol", "rehab", "aa meetings?", "drink too much", "i drink"),
    ),
    ("drug addiction", ("cocaine", "heroin", "weed", "cannabis", "rehab", "addict(?:ed|ion)?", "clean for")),
    ("divorce separation", ("divorced?", "separat(?:ed|ion)", "custody", "split up", "broke up", "alimony")),
    ("bank account banking", ("iban", "sort code", "account number", "bank account", "my (?:bank|account)")),
    ("dating relationship affair", ("boyfriend", "girlfriend", "dating", "affair", "a date with", "seeing someone")),
    ("trip holiday vacation journey", ("fly", "flights?", "hotel", "ferry", "itinerary", "travel(?:ling)?")),
    (
        "lawsuit court trial litigation",
        ("lawyer", "solicitor", "attorney", "su(?:e|ed|ing)", "lawsuit", "in court", "to court", "judge", "settlement"),
    ),
    ("diet", ("vegetarian", "vegan", "calories", "fasting", "keto", "low-(?:salt|fat|carb|sugar)")),
    (
        "conviction crime arrest prison",
        ("arrested", "convicted", "prison", "jail", "probation", "shoplifting", "charged with"),
    ),
    ("surgery operation", ("operat(?:ed|ion)", "surgeon", "surgery", "anaesthetic")),
    ("application interview", ("applied", "recruiter", "interview(?:ed)?", "application")),
    ("smoking smoke cigarette", ("smok(?:e|ed|er|ing)", "cigarettes?")),
    ("disability handicap", ("disabled", "disability", "wheelchair", "impaired")),
)
"""Words of a query that name a matter, and how people tell of it."""
_MATTERS: Final = tuple((frozenset(named.split()), _told(*told)) for named, told in _TOLD)
_BEGINNING: Final = re.compile(r"(?<![a-z\\])[a-z]{3,}")
_COMMON: Final = STOP | AUXILIARIES | PRONOUNS | {"not", "out", "put", "live", "with", "member"}
_MINE: Final = re.compile(
    r"(?<![\w'])(?:i|i'm|i've|i'd|i'll|im|ive|my|me|mine|we|our|us|we're|we've)(?![\w])", re.IGNORECASE
)
_OF_OTHERS: Final = re.compile(
    rf"\b(?:my|our)\s(?:{'|'.join(sorted(KIN))}|friend|neighbou?r|colleague|boss|flatmate|roommate|cousin|dog|cat)\b|\b\w{{2,}}'s\s\w",
    re.IGNORECASE,
)


def told_of(topics: Iterable[str], text: str) -> int:
    """Returns how many matters that a query names a text tells of in other words, as the speaker's own.

    Args:
        topics: Content words of the query, in base form.
        text: What somebody said.
    """
    asked = set(topics)
    plain = text.replace("’", "'")  # noqa: RUF001
    if _MINE.search(plain) is None or _OF_OTHERS.search(plain) is not None:
        return 0
    return sum(
        any(lemma(match[0].casefold()) not in asked for match in told.finditer(plain))
        for named, told in _MATTERS
        if named & asked
    )


def beginnings_of(topics: Iterable[str]) -> frozenset[str]:
    """Returns beginnings of words by which texts that tell of these matters are found."""
    asked = set(topics)
    return frozenset(
        word
        for named, told in _TOLD
        if set(named.split()) & asked
        for word in _BEGINNING.findall(" ".join(told))
        if word not in _COMMON
    )
