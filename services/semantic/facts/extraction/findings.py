# ruff: noqa: E501 - a pattern reads best on one line
"""From a matched pattern to facts: the object without its tail, the predicate, the date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.semantic.facts.extraction.dates import ResolvedDate
from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.person import third_person_pronouns
from services.semantic.facts.extraction.rule import Rule
from services.semantic.facts.extraction.vocabulary import predicate_of
from services.semantic.facts.model import FactCategory, FactDraft

_TAIL: Final = re.compile(
    r"(?:,?\s+(?:too|as well|though|either|at the moment|right now|these days|now|already|so far|haha|lol|btw|by the way|honestly|actually|"
    r"you know|of course|again|instead|for now|obviously|apparently|anyway|today|if i'm honest|to be honest|somehow|please|"
    r"please note|fyi|at all|anymore|any more|all over again|for some reason|like i said|thanks|thank you|cheers|yet|however|then|"
    r"by the way|if possible|with you|for you|for sure|for real|really|unfortunately|recently|lately|currently|finally|just now|so much))+$",
    re.IGNORECASE,
)
_MEANINGFUL_NOT: Final = re.compile(r"(?: (?:anymore|any more))$", re.IGNORECASE)
NO_OBJECT: Final = re.compile(
    r"^(?:it|this|that|these|those|them|him|her|he|she|they|there|here|one|ones|some|any|something|someone|anything|nothing|everything|"
    r"all|so|such|what|how|you|your|yours|both|none|more|less|enough|a lot|lots|a bit|being (?:here|able)|to be (?:fair|honest)|having to|"
    r"(?:the )?(?:one|same|other|others|first|second|latter|former)|my (?:own|way)|our own|myself|\"\")\b|^(?:a|an|the|my|our|to|of|in|on|and|for|it's)$",
    re.IGNORECASE,
)
TRAILING: Final = re.compile(
    r"(?:[\s,;:.!?-]|\b(?:and|or|but|with|to|in|on|at|for|of|from|by|the|a|an|my|our)\b)+$", re.IGNORECASE
)
_TECHNICAL: Final = word_set(
    """
    aws azure gcp react vue angular svelte python rust go golang java javascript typescript kotlin swift
    linux ubuntu debian windows macos postgres postgresql mysql mongodb redis kafka kubernetes docker github
    gitlab jira slack notion node nextjs django flask fastapi rails spring terraform vscode vim emacs chrome
    firefox excel production staging main master google-cloud heroku vercel netlify firebase supabase
    pytorch tensorflow numpy pandas graphql rest grpc english phase step plan option stage version chapter
    part section line
    """
)
_DURATION: Final = re.compile(
    r"\s+(?:anymore|any more)$|\s+for (?:about |over |almost |nearly |around |the (?:last|past) )?(?:[\w-]+ ){1,2}"
    r"(?:years|months|weeks|days|year|month|week) ?(?:now)?$",
    re.IGNORECASE,
)
_UNCLEAR_END: Final = re.compile(r"\b(?:it|them|these|those|that|this|there|here|ones|him|her|so)$", re.IGNORECASE)
_VAGUE_DEED: Final = re.compile(r"\w+ (?:it|them|this|that|these|those|him|her)\b(?! \w+ing)", re.IGNORECASE)
_POINTING: Final = re.compile(r"\b(?:this|it|these|those|that|code|function|query)\b", re.IGNORECASE)
_AIMS: Final = frozenset({"wants_to", "goal", "plans_to", "working_on", "must", "learning"})
_UNCOUNTED: Final = word_set(
    """
    tea coffee beer wine music chocolate meat fish winter summer city outdoors tech
    """
)
START_DATE: Final = "start_date"
"""Of a clause that only says when a job starts."""
_EVENT_WORDS_MIN: Final = 3
_GENERAL: Final = re.compile(
    r"the (?:sea|ocean|beach|mountains?|outdoors|theatre|theater|cinema|piano|guitar|violin|rain|cold|heat|summer|winter|autumn|spring|city|"
    r"countryside|snow|sun|dark|beatles|taste of|smell of|colou?r|desert|forest|woods|lake|gym|opera|ballet|blues|night)\b",
    re.IGNORECASE,
)
_POSSESSED_JOB: Final = re.compile(
    r"^(?:my|his|her|their)\s+(?:old |day |previous )?job(?:\s+(?:at|as an?)\s+)?", re.IGNORECASE
)
_REMARK: Final = re.compile(r",\s+(?:which|who|but|so|and then|because|where)\b|\s+(?:because|so that|although)\s+")
_OF_PLACES: Final = frozenset({"lives_in", "moved", "moving_to", "lived_in", "starts_job", "works_at"})
_OWN_NAMES: Final = {
    "children": "children",
    "kids": "children",
    "child": "children",
    "kid": "children",
    "wives": "wife",
}
_UNNAMED: Final = {"does_not_drink": "alcohol", "does_not_smoke": "smoking"}


@dataclass(frozen=True, slots=True)
class Telling:
    """A clause that a rule has matched."""

    rule: Rule
    match: re.Match[str]
    body: str  # what was matched: the clause without its subject
    text: str  # the clause in the third person
    who: str  # its subject as the text names it
    subject: str  # its subject as a fact names it
    date: ResolvedDate | None


def findings(told: Telling) -> list[FactDraft]:
    """The facts of a matched clause; none where it is too vague to be kept."""
    rule, groups, date = told.rule, told.match.groupdict(), told.date
    predicate = rule.predicate
    value = _object(groups.get(rule.object_from) or "", told)
    if predicate in _OF_PLACES and _is_technical(value):
        return []
    text = with_date(told.text, date)
    since = date.start if date else None
    special = _special(predicate, value, told, text, since)
    if special is not None:
        return special
    value = value or _UNNAMED.get(predicate, "")
    if _is_vague(predicate, value, told):
        return []
    if told.body.endswith(" person") and value not in _UNCOUNTED and not value.endswith("s"):
        value += "s"
    drafts = [draft(text, told.subject, predicate, value, since)]
    role = groups.get("role") or groups.get("role2")
    if predicate in {"works_at", "starts_job"} and role:
        drafts.append(draft(text, told.subject, "works_as", role.strip(), since))
    return drafts


def draft(text: str, subject: str, predicate: str, object_text: str, valid_from: datetime | None = None) -> FactDraft:
    """A fact with the category and weights of its predicate."""
    known = predicate_of(predicate)
    return FactDraft(
        text=text,
        category=known.category,
        confidence=known.confidence,
        importance=known.importance,
        subject=subject,
        predicate=predicate,
        object=object_text,
        valid_from=valid_from,
    )


def tidy(body: str) -> str:
    """A clause without the words that trail after what it says."""
    body = body.strip()
    kept = _MEANINGFUL_NOT.search(body)
    while True:
        shorter = _TAIL.sub("", body).rstrip(" ,.;:!-")
        if shorter == body:
            break
        body = shorter
    return body + " anymore" if kept and " not " in f" {body} " else body


def with_date(text: str, date: ResolvedDate | None) -> str:
    """A text with its date written out, unless it names day, month and year itself."""
    return text if date is None or date.is_explicit or date.iso in text else f"{text} ({date.iso})"


def _special(predicate: str, value: str, told: Telling, text: str, since: datetime | None) -> list[FactDraft] | None:
    """The facts of patterns that are not facts of their own name; None for the others."""
    subject = told.subject
    if predicate == "moved":
        drafts = [draft(text, subject, "lives_in", value, since)]
        origin = told.match["origin"]
        if origin:
            drafts.append(draft(f"{told.who} used to live in {origin}", subject, "lived_in", origin))
        return drafts
    if predicate == START_DATE:
        return [FactDraft(text, FactCategory.COMMITMENT, 1.0, 1.0, subject, predicate, "", since)]
    if predicate == "retired":
        return [draft(text, subject, "works_as", "retired", since)]
    if predicate == "pet":
        return [draft(text, subject, "has_pet", value, since)]
    if predicate == "family":
        kin = _singular(told.match["kin"].lower()).replace("-", "_")
        return [draft(text, subject, f"has_{kin}", value, since)]
    if predicate == "left_job":
        return [draft(text, subject, predicate, _POSSESSED_JOB.sub("", value) or "job", since)]
    if predicate == "birthday":
        return [draft(told.text, subject, predicate, value or told.body)]
    return None


def _is_vague(predicate: str, value: str, told: Telling) -> bool:
    """Whether an object says nothing outside of its conversation."""
    if not value or NO_OBJECT.match(value):
        return True
    if predicate in {"likes", "dislikes"} and value.lower().startswith("the ") and not _GENERAL.match(value):
        return True
    if predicate == "event" and told.rule.needs_date and len(value.split()) < _EVENT_WORDS_MIN:
        return True
    if _VAGUE_DEED.match(value) or (predicate == "event" and _UNCLEAR_END.search(value)):
        return True
    if told.date is not None:
        return False
    return bool(_UNCLEAR_END.search(value) or (predicate in _AIMS and _POINTING.search(value)))


def _object(raw: str, told: Telling) -> str:
    """The object without its date, its tail and remarks."""
    text = raw.strip()
    if told.date is not None:
        phrase = told.body[told.date.begin : told.date.end]
        if text.endswith(phrase) and phrase != text:
            text = text.removesuffix(phrase)
    text = _DURATION.sub("", _REMARK.split(text)[0])
    return third_person_pronouns(" ".join(TRAILING.sub("", text).split()).replace(" ,", ","))


def _is_technical(name: str) -> bool:
    return name.split(" ", maxsplit=1)[0].casefold() in _TECHNICAL if name else True


def _singular(kin: str) -> str:
    return _OWN_NAMES.get(kin, kin.removesuffix("s"))
