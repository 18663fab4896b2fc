"""What a text says somebody of a name is: "my grandmother Martha", "Martha next door", "Martha is our cleaner".

Pure functions. Words for one relation count as the same ("gran", "grandmother"; "next door", "neighbour").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from services.common.values.words.lexicon import AUXILIARIES, KIN, PRONOUNS, STOP, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.wording import DETERMINERS, OFFICES, ROLES, TITLES

_SAME: Final = (
    "neighbour neighbor",
    "colleague coworker co-worker workmate teammate",
    "boss manager supervisor head director chief",
    "mother mum mom mummy mommy mama ma",
    "father dad daddy papa pa",
    "grandmother grandma gran granny nan nana nanna nanny grandmum",
    "grandfather grandpa grandad granddad gramps",
    "aunt auntie aunty",
    "husband hubby",
    "wife missus",
    "stepmother stepmum stepmom",
    "stepfather stepdad",
    "brother bro",
    "sister sis",
    "granddaughter grandchild grandson",
    "fiance fiancee fiancé fiancée",
    "friend mate pal buddy bestie",
    "flatmate roommate housemate",
    "doctor gp physician surgeon consultant",
    "therapist psychotherapist counsellor counselor psychologist",
    "physio physiotherapist",
    "vet veterinarian",
    "lawyer solicitor attorney barrister",
    "landlord landlady",
    "client customer",
    "teacher tutor",
    "coach trainer instructor",
    "babysitter childminder sitter",
    "pupil student",
    "dog puppy",
    "cat kitten",
)
_CANONICAL: Final = {word: words.split()[0] for words in _SAME for word in words.split()}
_OTHERS: Final = (
    "plumber electrician builder mechanic baker butcher barber hairdresser priest accountant postman dogsitter partner "
    "carer ex-wife ex-husband"
)
_KNOWN: Final = (KIN | ROLES | frozenset(_CANONICAL) | frozenset(_OTHERS.split()) | {"dog", "cat"}) - {"hire"}
_RELATIVES: Final = frozenset(_CANONICAL.get(word, word) for word in KIN)
_NEAR: Final = (
    frozenset({"wife", "husband", "partner", "girlfriend", "boyfriend", "fiance"}),
    frozenset({"teacher", "coach", "mentor"}),
    frozenset({"child", "kid", "son", "daughter", "twin", "brother", "sister"}) - {"brother", "sister"},
    frozenset({"parent", "mother", "father"}),
    frozenset({"colleague", "boss", "assistant", "intern", "mentor"}),
)
"""One person may well be both: which of them a text means is open."""
_ADJECTIVES: Final = frozenset(
    "old dear lovely poor sweet little big good great own late young younger older elder eldest best new former next only favourite favorite crazy whole".split()  # noqa: SIM905, E501 - words
)
_NEXT_DOOR: Final = (
    r"(?:(?:from|of|in)\s)?(?:right\s|just\s)?(?:next[\s-]door|upstairs|downstairs|opposite|(?:over|across)\sthe\s(?:road|street|hall|landing|way|fence)|"
    r"(?:\w+|a\sfew)\sdoors?\s(?:down|up|along|away)|down\sthe\s(?:road|street|hall)|(?:from|at)\s(?:number|no\.?)\s?\d+|"
    r"(?:from|on)\sthe\s(?:ground|first|second|third|fourth|fifth|top|upper|lower)\sfloor)\b"
)
_DEPARTMENTS: Final = (
    r"work|office|accounting|accounts|accountancy|finance|payroll|hr|human\sresources|(?-i:IT)|sales|marketing|legal|reception|"
    r"purchasing|procurement|logistics|controlling|engineering|production|department|head\soffice|day\sshift|night\sshift|"
    r"late\sshift|early\sshift"
)
_AT_WORK: Final = rf"(?:from|at|in|on)\s(?:the\s|our\s|my\s)?(?:\w+\s)?(?:{_DEPARTMENTS})\b"
_LIVES: Final = r"(?:,?\s?who\s)?(?:(?:lives?|lived|living|is|was)\s)?"
"""Who "sits opposite" may be a colleague or a neighbour."""
_WORKS: Final = r"(?:,?\s?who\s)?(?:(?:sits?|is|works?|worked|was)\s)?"
_PLACED: Final = (
    ("neighbour", re.compile(rf"^,?\s\(?{_LIVES}{_NEXT_DOOR}", re.IGNORECASE)),
    ("colleague", re.compile(rf"^,?\s\(?{_WORKS}{_AT_WORK}|^\s(?:works?|worked)\swith\s(?:me|us)\b", re.IGNORECASE)),
)
_FROM: Final = re.compile(r"^\s(?:from|of|at)\s(?:(?:the|my|our)\s)?(?P<where>[a-z][\w'-]+(?:\s[a-z][\w'-]+)?)")
_OWNER: Final = r"(?P<owner>my|our|his|her|their|the|an?|[\w-]+'s)"
_OWNERS: Final = r"(?:my|our|his|her|their|the|an?|[\w-]+'s)\s"
_TITLE: Final = rf"(?:(?:{'|'.join(sorted(TITLES))})\.?\s)?"
_BEFORE_CHARS: Final = 200
"""Before a name, of which who it is may be said."""
_BEFORE: Final = re.compile(
    rf"(?:(?<![\w'])(?P<lead>(?!{_OWNERS})[\w']{{1,40}})\s)?(?:(?<![\w'-]){_OWNER}\s(?:(?!{_OWNERS})[\w-]{{1,40}}\s){{0,2}}?)?\b(?P<role>[\w-]{{1,40}})(?P<link>\s|,\s|\sis\s(?:called\s|named\s)?|\swas\s(?:called\s|named\s)|"
    rf"\s(?:called|named)\s|'s\sname\sis\s|,\swhose\sname\sis\s){_TITLE}$",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"^(?P<link>\s(?:is|was)\s|'s\s|,?\s?who\s(?:is|was)\s|,\s|\s[(\u2013\u2014-]\s?|\s(?=the\s))"
    rf"{_OWNER}\s(?:(?P<of>[\w-]+)'s\s)?(?P<what>[\w-]+(?:\s[\w-]+){{0,2}})",
    re.IGNORECASE,
)
_HELD: Final = re.compile(
    rf"(?<![\w'-])(?P<title>{'|'.join(sorted(OFFICES - {'mr', 'mrs', 'ms'}))})\.?\s$", re.IGNORECASE
)
_TELLS: Final = frozenset("tell told tells promised asked remind reminded show showed think thinks".split())  # noqa: SIM905 - words
_TIMES: Final = frozenset("for on in at during before after since until till by".split())  # noqa: SIM905 - words
_IN_LAW: Final = re.compile(r"\b(\w+)[\s-]in[\s-]law\b", re.IGNORECASE)
_CHARS_MAX: Final = 80


@dataclass(frozen=True, slots=True)
class Described:
    """Who somebody of a name is, by one mention."""

    relations: frozenset[str] = frozenset()  # to the speaker or to an owner, one word for each
    origin: frozenset[str] = frozenset()  # where they are from: "from the choir"
    title: str = ""  # "dr", "captain"; not "mr"
    owner: str = ""  # whose: empty for the speaker's or where it is not said
    words: frozenset[str] = field(default=frozenset(), compare=False)  # that say so, in base form

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return bool(self.relations or self.origin)

    def joined(self, other: Described) -> Described:
        """Both: they are said of one person."""
        return Described(
            self.relations | other.relations,
            self.origin | other.origin,
            self.title or other.title,
            self.owner or other.owner,
            self.words | other.words,
        )


def canonical(role: str) -> str:
    """Returns one word for those that name the same relation; empty where a word names none."""
    word = role.casefold()
    for form in (word, lemma(word)):
        if form in _KNOWN or form.endswith("-in-law"):
            return _CANONICAL.get(form, form)
    return ""


def relations_in(text: str) -> frozenset[str]:
    """Returns the relations that a text names as the speaker's: "my grandmother turns 93"."""
    found = re.findall(r"\b(?:my|our)\s([\w-]+)(?:\s([\w-]+))?", _IN_LAW.sub(r"\1-in-law", text), re.IGNORECASE)
    named = (next(filter(None, map(canonical, words)), "") for words in found)
    return frozenset(filter(None, named))


def mentions(text: str, names: Collection[str]) -> tuple[Described, ...]:
    """Returns what a text says of somebody at each mention of the name; empty ones where it says nothing.

    Args:
        text: What somebody said.
        names: Words of the name, in lower case.
    """
    plain = _IN_LAW.sub(r"\1-in-law", text.replace("’", "'"))  # noqa: RUF001
    name = "|".join(re.escape(part) for part in names if part not in OFFICES)
    if not name:
        return ()
    found = re.finditer(rf"(?<![\w-])(?:(?:{name})\s)*(?:{name})(?![\w-])", plain, re.IGNORECASE)
    return tuple(_described(plain, match.start(), match.end()) for match in found)


def _described(text: str, start: int, end: int) -> Described:
    before, behind = text[max(0, start - _CHARS_MAX) : start], text[end : end + _CHARS_MAX]
    title = _HELD.search(before)
    found = Described(title=title["title"].casefold() if title is not None else "")
    for one in (*_by_what_precedes(before, behind), *_by_what_follows(behind, is_opening=_is_opening(before))):
        found = found.joined(one)
    return found


def _is_opening(before: str) -> bool:
    return not before.strip() or before.rstrip()[-1] in ".!?:;,"


def _by_what_precedes(before: str, behind: str) -> Iterator[Described]:
    """By "my grandmother Martha", "Aunt Martha", "our neighbour, Martha", "my nan is called Martha"."""
    match = _BEFORE.search(before[-_BEFORE_CHARS:])
    if match is None:
        return
    owner, role, link = (match["owner"] or "").casefold(), match["role"].casefold(), match["link"]
    lead = (match["lead"] or "").strip().casefold()
    relation = canonical(role)
    if relation and link.strip() and not owner:
        return  # "the sister, Martha and I"
    if relation and link == ", " and not re.match(r"^\s?(?:[,.)]|$)", behind):
        return  # "on the way to my sister, Martha rang"
    if relation and lead in _TELLS and owner and _opens_with_a_verb(behind):
        return  # "I told my mother Martha was ill"
    if not relation and not _may_be_a_role(role, owner, link, lead):
        return
    yield Described(frozenset({relation or role}), owner=_owner(owner), words=frozenset({lemma(role)}))


def _may_be_a_role(role: str, owner: str, link: str, lead: str) -> bool:
    """Whether an unknown word between an owner and a name says who that is: "my glazier Leo"."""
    if not owner or owner in DETERMINERS - {"his", "her", "their"} or link != " " or lead in _TIMES:
        return False
    is_small = role in STOP | PRONOUNS | DETERMINERS | _ADJECTIVES | TITLES or role in AUXILIARIES
    return role.isalpha() and not is_small and lemma(role) not in VERBS and not role.endswith(("ed", "ing"))


def _opens_with_a_verb(text: str) -> bool:
    word = re.match(r"^\s(?P<word>[\w']+)", text)
    return word is not None and (word["word"].casefold() in AUXILIARIES or lemma(word["word"].casefold()) in VERBS)


def _by_what_follows(behind: str, *, is_opening: bool) -> Iterator[Described]:
    """By "Martha next door", "Martha from the choir", "Martha, my boss,", "Martha is my boss", "Sam the tortoise"."""
    for relation, pattern in _PLACED:
        place = pattern.match(behind)
        if place is not None:
            yield Described(frozenset({relation}), words=_words(place[0]))
            return
    match = _BEHIND.match(behind)
    if match is not None:
        yield from _of_apposition(match, is_opening=is_opening)
    where = _FROM.match(behind)
    if where is not None and (is_opening or where[0].strip().startswith("from")):
        words = frozenset(word for word in _words(where["where"]) if word not in VERBS)
        if words:
            yield Described(origin=words, words=words)


def _of_apposition(match: re.Match[str], *, is_opening: bool) -> Iterator[Described]:
    owner, link, words = match["owner"].casefold(), match["link"].strip(), match["what"].split()
    is_copula = link not in {"", ",", "(", "-", "\u2013", "\u2014"}
    if owner in {"a", "an"} and not is_copula:
        return
    place = next((n for n, word in enumerate(words) if canonical(word)), -1)
    role = words[max(place, 0)].casefold()
    rest = match.string[match.start("what") + len(" ".join(words[: max(place, 0) + 1])) :]
    if link == "," and re.match(r"^(?:'s|\s(?:and|or|but)\b|,\s(?:my|our)\s)", rest):
        return  # "Martha, my sister and I"
    if place < 0:
        # "Sam the tortoise is forty"; not "I gave Sam the tortoise".
        is_known_so = (
            link == "" and owner == "the" and is_opening and role.isalpha() and rest[:1] in {"", " ", ",", "."}
        )
        if not is_known_so or role in _ADJECTIVES or lemma(role) in VERBS:
            return
    owner = match["of"].casefold() if match["of"] else _owner(owner)  # "Martha, my boss's sister,"
    yield Described(
        frozenset({canonical(role) or role}), owner=owner, words=frozenset({lemma(w.casefold()) for w in words})
    )


def _owner(word: str) -> str:
    return word.removesuffix("'s") if word.endswith("'s") or word in {"his", "her", "their"} else ""


def _words(phrase: str) -> frozenset[str]:
    return frozenset(lemma(word) for word in re.findall(r"[a-z'-]+", phrase.casefold()) if word not in STOP)


def fits(asked: Described, said: Described) -> bool:
    """Returns whether a mention may be of the one who is asked for: it shares a relation or where they are from."""
    return _is_same_owner(asked, said) and bool(
        asked.relations & said.relations or (asked.origin | asked.words) & said.origin or asked.origin & said.words
    )


def is_another(asked: Described, said: Described) -> bool:
    """Returns whether a mention is of somebody else: a relation that one person hardly has besides the other."""
    if not asked or not said or fits(asked, said):
        return False
    if asked.origin and said.origin and not (asked.relations or said.relations):
        return True
    if not (asked.relations and said.relations):
        return bool((asked.relations | said.relations) & _RELATIVES and not (asked.origin or said.origin))
    if asked.relations & said.relations:
        return False  # only the owner is another
    if any(asked.relations & near and said.relations & near for near in _NEAR):
        return False
    if "friend" in asked.relations | said.relations:
        return bool((asked.relations | said.relations) & _RELATIVES)
    return True


def _is_same_owner(asked: Described, said: Described) -> bool:
    return asked.owner == said.owner
