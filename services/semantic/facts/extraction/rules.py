"""Facts by rules: no model, no network, the same result on every run. Rather no fact than a wrong one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from services.common.turns import MessageRole
from services.semantic.config import ExtractionSettings
from services.semantic.facts.extraction import instructions
from services.semantic.facts.extraction.clauses import Clause, clauses_of
from services.semantic.facts.extraction.dates import ResolvedDate, find_date
from services.semantic.facts.extraction.mentions import favourites, relatives
from services.semantic.facts.extraction.patterns import NAMED_RULES, OTHERS_RULES, SPEAKER_RULES, Rule
from services.semantic.facts.extraction.person import third_person, third_person_pronouns
from services.semantic.facts.extraction.vocabulary import predicate_of
from services.semantic.facts.model import FactCategory, FactDraft
from services.semantic.model import SourceInteraction

_YIELD_EVERY: Final = 32
"""Interactions between two turns of the event loop: about 10 ms of work."""
_FUTURE: Final = re.compile(
    r"(?:am|is|are|will|would|plans?|going|have (?:got )?(?:an?|my|to|the|our)|has (?:an?|to)|needs?|must|fly|flies|start|starts|leave|leaves|"
    r"get|gets|hopes?|wants?|intend|return|arrive|arrives|begin|begins|move|moves|travel|graduate|retire|love|like|do|can)\b",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"(?:,?\s+(?:too|as well|though|either|at the moment|right now|these days|now|already|so far|haha|lol|btw|by the way|honestly|actually|"
    r"you know|of course|again|instead|for now|obviously|apparently|anyway|today|if i'm honest|to be honest|somehow|please|"
    r"please note|fyi|at all|anymore|any more|all over again|for some reason|like i said|thanks|thank you|cheers|yet|however|then|"
    r"by the way|if possible|with you|for you|for sure|for real|really|unfortunately|recently|lately|currently|finally|just now|so much))+$",
    re.IGNORECASE,
)
_MEANINGFUL_NOT: Final = re.compile(r"(?: (?:anymore|any more))$", re.IGNORECASE)
_NO_OBJECT: Final = re.compile(
    r"^(?:it|this|that|these|those|them|him|her|he|she|they|there|here|one|ones|some|any|something|someone|anything|nothing|everything|"
    r"all|so|such|what|how|you|your|yours|both|none|more|less|enough|a lot|lots|a bit|being (?:here|able)|to be (?:fair|honest)|having to|"
    r"(?:the )?(?:one|same|other|others|first|second|latter|former)|my (?:own|way)|our own|myself|\"\")\b|^(?:a|an|the|my|our|to|of|in|on|and|for|it's)$",
    re.IGNORECASE,
)
_YOU: Final = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_TRAILING: Final = re.compile(
    r"(?:[\s,;:.!?-]|\b(?:and|or|but|with|to|in|on|at|for|of|from|by|the|a|an|my|our)\b)+$", re.IGNORECASE
)
_TECHNICAL: Final = frozenset(
    [
        "aws",
        "azure",
        "gcp",
        "react",
        "vue",
        "angular",
        "svelte",
        "python",
        "rust",
        "go",
        "golang",
        "java",
        "javascript",
        "typescript",
        "kotlin",
        "swift",
        "linux",
        "ubuntu",
        "debian",
        "windows",
        "macos",
        "postgres",
        "postgresql",
        "mysql",
        "mongodb",
        "redis",
        "kafka",
        "kubernetes",
        "docker",
        "github",
        "gitlab",
        "jira",
        "slack",
        "notion",
        "node",
        "nextjs",
        "django",
        "flask",
        "fastapi",
        "rails",
        "spring",
        "terraform",
        "vscode",
        "vim",
        "emacs",
        "chrome",
        "firefox",
        "excel",
        "production",
        "staging",
        "main",
        "master",
        "google-cloud",
        "heroku",
        "vercel",
        "netlify",
        "firebase",
        "supabase",
        "pytorch",
        "tensorflow",
        "numpy",
        "pandas",
        "graphql",
        "rest",
        "grpc",
        "english",
        "phase",
        "step",
        "plan",
        "option",
        "stage",
        "version",
        "chapter",
        "part",
        "section",
        "line",
    ]
)
_DURATION: Final = re.compile(
    r"\s+(?:anymore|any more)$|\s+for (?:about |over |almost |nearly |around |the (?:last|past) )?(?:[\w-]+ ){1,2}"
    r"(?:years|months|weeks|days|year|month|week) ?(?:now)?$",
    re.IGNORECASE,
)
_UNCLEAR_END: Final = re.compile(r"\b(?:it|them|these|those|that|this|there|here|ones|him|her|so)$", re.IGNORECASE)
_POINTING: Final = re.compile(r"\b(?:this|it|these|those|that|code|function|query)\b", re.IGNORECASE)
_AIMS: Final = frozenset({"wants_to", "goal", "plans_to", "working_on", "must", "learning"})
_UNCOUNTED: Final = frozenset(
    [
        "tea",
        "coffee",
        "beer",
        "wine",
        "music",
        "chocolate",
        "meat",
        "fish",
        "winter",
        "summer",
        "city",
        "outdoors",
        "tech",
    ]
)
_START_DATE: Final = "start_date"
_EVENT_WORDS_MIN: Final = 3
_HEDGED: Final = 0.6
_WE: Final = 0.95
_OTHERS: Final = 0.9


@dataclass(frozen=True, slots=True)
class _Speaker:
    name: str  # as it begins a sentence
    subject: str  # as a fact's subject


class RuleFactExtractor:
    """Reads first-person statements, and what is said of relatives, clause by clause against a list of patterns."""

    def __init__(self, settings: ExtractionSettings | None = None) -> None:
        """Use the settings, or the defaults."""
        self._settings: Final = settings or ExtractionSettings()

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        """The facts of each interaction, in order of appearance."""
        found: list[list[FactDraft]] = []
        for i, source in enumerate(sources):
            if i % _YIELD_EVERY == _YIELD_EVERY - 1:
                await asyncio.sleep(0)
            found.append(self.facts_of(source))
        return found

    def facts_of(self, source: SourceInteraction) -> list[FactDraft]:
        """The facts of one interaction, none twice, at most as many as the settings allow."""
        turn = source.turn
        if turn.role not in self._settings.roles:
            return []
        name = " ".join(turn.speaker.split())
        speaker = _Speaker(name or self._settings.nameless_subject, name or self._settings.nameless_subject)
        drafts: dict[tuple[str, str, str], FactDraft] = {}
        for clause in clauses_of(turn.content, list_items=turn.role is MessageRole.USER and self._settings.list_items):
            for draft in self._facts_of_clause(clause, speaker, source):
                if draft.predicate == _START_DATE:
                    _add_start(drafts, draft)
                elif len(draft.text) <= self._settings.text_chars_max:
                    key = (draft.subject.casefold(), draft.predicate, draft.object.casefold())
                    drafts.setdefault(key, draft)
            if len(drafts) >= self._settings.facts_per_turn_max:
                break
        return list(drafts.values())[: self._settings.facts_per_turn_max]

    def _facts_of_clause(self, clause: Clause, speaker: _Speaker, source: SourceInteraction) -> Iterator[FactDraft]:
        said = source.turn.time
        order = instructions.read(clause.full)
        if order is not None:
            if order.kind == "remember":
                yield from self._asked_to_remember(order.text, speaker, source)
                return
            predicate = "preferred_name" if order.kind == "name" else "instruction"
            verb = "wants to be called" if order.kind == "name" else "gave the standing instruction:"
            yield _draft(f"{speaker.name} {verb} {order.text}", speaker.subject, predicate, order.text)
            return
        yield from relatives(clause, speaker.name)
        favourite = favourites(clause, speaker.name)
        if favourite is not None:
            yield favourite
            return
        if clause.subject == "speaker":
            yield from self._by_rules(SPEAKER_RULES, clause, speaker.name, speaker.name, speaker, source)
        elif clause.subject == "relative":
            who = f"{speaker.name}'s {clause.relation}" + (f" {clause.name}" if clause.name else "")
            subject = clause.name or f"{speaker.subject}'s {clause.relation}"
            yield from self._by_rules(OTHERS_RULES, clause, who, subject, speaker, source)
            yield from self._own_events(clause, speaker, source)
        elif clause.subject == "other":
            yield from self._by_rules(NAMED_RULES, clause, clause.name, clause.name, speaker, source)
        else:
            event = _own_event(clause, speaker, said=source)
            if event is not None:
                yield event

    def _own_events(self, clause: Clause, speaker: _Speaker, source: SourceInteraction) -> Iterator[FactDraft]:
        event = _own_event(clause, speaker, said=source)
        if event is not None:
            yield event

    def _asked_to_remember(self, text: str, speaker: _Speaker, source: SourceInteraction) -> Iterator[FactDraft]:
        """What somebody asks to be remembered: the facts in it, or else the statement as it is."""
        found = [
            draft
            for clause in clauses_of(text, list_items=False)
            for draft in self._facts_of_clause(clause, speaker, source)
        ]
        if not found:
            told = third_person_pronouns(text)
            if told == text and speaker.name != self._settings.nameless_subject:
                return  # advice to another person, such as "remember that small things count"
            found = [_draft(f"{speaker.name} asked to remember: {told}", speaker.subject, "asked_to_remember", told)]
        for draft in found:
            weight = min(1.0, draft.importance + self._settings.asked_importance_bonus)
            yield replace(draft, importance=weight, confidence=max(draft.confidence, 0.85))

    def _by_rules(
        self,
        rules: Sequence[Rule],
        clause: Clause,
        who: str,
        subject: str,
        speaker: _Speaker,
        source: SourceInteraction,
    ) -> Iterator[FactDraft]:
        body = _tidy(clause.body)
        if len(body) < 3 or '""' in body:
            return
        for rule in rules:
            match = rule.pattern.match(body)
            if match is None:
                continue
            past = not (rule.looks_ahead or _FUTURE.match(body))
            date = find_date(body, source.turn.time, past=past)
            if rule.needs_date and date is None:
                continue
            if rule.needs_future and (date is None or not date.is_future):
                continue
            if _YOU.search(body):
                if speaker.name == self._settings.nameless_subject or not (rule.needs_future and date):
                    return
                text = f'{who} said: "{clause.full}"'
            else:
                told = third_person_pronouns(body) if clause.is_plural else third_person(body)
                text = f"{who} {told}".replace(" can not ", " cannot ")
            drafts = _findings(rule, match, body, text, who=who, subject=subject, date=date)
            factor = (_HEDGED if clause.is_unsure else 1.0) * (_WE if clause.is_speaker_plural else 1.0)
            factor *= 1.0 if clause.subject == "speaker" else _OTHERS
            yield from (replace(d, confidence=round(d.confidence * factor, 4)) for d in drafts)
            if drafts:
                return


def _findings(
    rule: Rule, match: re.Match[str], body: str, text: str, *, who: str, subject: str, date: ResolvedDate | None
) -> list[FactDraft]:
    groups = match.groupdict()
    object_text = _object(groups.get("obj" if rule.object_from == "org" else rule.object_from) or "", date, body, match)
    predicate = rule.predicate
    if predicate in {"lives_in", "moved", "moving_to", "lived_in", "starts_job", "works_at"} and _is_technical(
        object_text
    ):
        return []
    dated = _with_date(text, date)
    valid_from = date.start if date else None
    if predicate == "moved":
        drafts = [_draft(dated, subject, "lives_in", object_text, valid_from)]
        if groups.get("origin"):
            drafts.append(
                _draft(f"{who} used to live in {groups['origin']}", subject, "lived_in", groups["origin"] or "")
            )
        return drafts
    if predicate == _START_DATE:
        # Says nothing alone: it is joined to the job that the turn told of before.
        return [
            FactDraft(_with_date(text, date), FactCategory.COMMITMENT, 1.0, 1.0, subject, predicate, "", valid_from)
        ]
    if predicate == "retired":
        return [_draft(dated, subject, "works_as", "retired", valid_from)]
    if predicate == "pet":
        return [_draft(dated, subject, "has_pet", object_text, valid_from)]
    if predicate == "family":
        kin = (groups.get("kin") or "").lower()
        return [_draft(dated, subject, "has_" + _singular(kin).replace("-", "_"), object_text, valid_from)]
    if predicate == "left_job":
        employer = re.sub(
            r"^(?:my|his|her|their)\s+(?:old |day |previous )?job(?:\s+(?:at|as an?)\s+)?", "", object_text, flags=re.I
        )
        return [_draft(dated, subject, "left_job", employer or "job", valid_from)]
    if predicate in {"does_not_smoke", "does_not_drink"} and not object_text:
        object_text = "alcohol" if predicate == "does_not_drink" else "smoking"
    if predicate == "birthday":
        return [_draft(text, subject, predicate, object_text or body)] if date else []
    if (
        predicate in {"dislikes", "likes"}
        and object_text.lower().startswith(("the ", "your "))
        and not _general(object_text)
    ):
        return []
    if not object_text or _NO_OBJECT.match(object_text):
        return []
    if predicate == "event" and rule.needs_date and len(object_text.split()) < _EVENT_WORDS_MIN:
        return []
    if _UNCLEAR_END.search(object_text) and date is None:
        return []
    if predicate in _AIMS and date is None and _POINTING.search(object_text):
        return []
    if body.endswith(" person") and object_text not in _UNCOUNTED and not object_text.endswith("s"):
        object_text += "s"
    drafts = [_draft(dated, subject, predicate, object_text, valid_from)]
    role = groups.get("role") or groups.get("role2")
    if predicate in {"works_at", "starts_job"} and role:
        drafts.append(_draft(dated, subject, "works_as", role.strip(), valid_from))
    return drafts


def _add_start(drafts: dict[tuple[str, str, str], FactDraft], start: FactDraft) -> None:
    """ "I'm joining the museum! I start on Monday": the second sentence dates the first."""
    for key, draft in reversed(drafts.items()):
        if draft.predicate in {"works_at", "starts_job", "works_as"} and draft.subject == start.subject:
            told = start.text.removeprefix(f"{start.subject} ")
            text = f"{draft.text} and {told}" if draft.valid_from is None else draft.text
            drafts[key] = replace(draft, text=text, valid_from=draft.valid_from or start.valid_from)
            return


def _draft(text: str, subject: str, predicate: str, object_text: str, valid_from: datetime | None = None) -> FactDraft:
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


_EVENT: Final = re.compile(
    r"^(?:my|our) (?P<event>(?:[\w'-]+ ){0,3}?(?:birthday|anniversary|wedding|appointment|interview|exam|flight|operation|surgery|deadline|"
    r"due date|graduation|meeting|viewing|driving test|trip|holiday|vacation|train|conference|concert|first day|last day))"
    r"(?: is|'s| was)? (?:on |in |at )?(?P<when>.{2,60})$",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(
    r"^(?:my|our) (?P<what>(?:full |first |last |middle |real )?name|job|profession|occupation|hometown|home town|native language|mother tongue|"
    r"first language|budget|goal|dream|pronouns|star sign|blood type|degree|major|zodiac sign|time ?zone|nickname|employer|email|nationality|"
    r"new address|address|dream job|biggest fear|hobby|hobbies|main hobby)(?: is|'s| are) (?P<obj>.{1,100})$",
    re.IGNORECASE,
)
_LINKED: Final = re.compile(r"(?:on|in|at|next|this|tomorrow|today)\b", re.IGNORECASE)
_ATTRIBUTE_PREDICATES: Final = {
    "job": "works_as", "profession": "works_as", "occupation": "works_as", "hometown": "comes_from", "home town": "comes_from",
    "native language": "speaks", "mother tongue": "speaks", "first language": "speaks", "budget": "has_budget", "goal": "goal",
    "dream": "wants_to", "dream job": "wants_to", "pronouns": "has_pronouns", "degree": "has_degree", "major": "studies", "nickname": "preferred_name",
    "employer": "works_at", "nationality": "nationality", "hobby": "likes", "hobbies": "likes", "main hobby": "likes",
}  # fmt: skip


def _own_event(clause: Clause, speaker: _Speaker, *, said: SourceInteraction) -> FactDraft | None:
    """ "My birthday is on the 5th of May", "our wedding is in June", "my name is Nadia"."""
    full = _tidy(clause.full)
    if full[:3].lower() not in {"my ", "our"} or _YOU.search(full):
        return None
    match = _ATTRIBUTE.match(full)
    if match is not None:
        what = match["what"].lower()
        predicate = (
            "has_name" if what.endswith("name") and what != "nickname" else _ATTRIBUTE_PREDICATES.get(what, "owns")
        )
        value = third_person_pronouns(_TRAILING.sub("", match["obj"]))
        if (
            not value
            or _NO_OBJECT.match(value)
            or re.match(r"(?:not|so|very|too|really|to be|going|getting|boring|killing)\b", value, re.I)
        ):
            return None
        verb = "are" if what.endswith("s") else "is"
        return _draft(f"{speaker.name}'s {what} {verb} {value}", speaker.subject, predicate, value)
    match = _EVENT.match(full)
    if match is None:
        return None
    is_birthday = match["event"].lower() == "birthday"
    date = find_date(match["when"], said.turn.time, past=False) or find_date(
        f"on {match['when']}", said.turn.time, past=False
    )
    if date is None or date.begin > 0:
        return None
    event = third_person_pronouns(match["event"])
    when = match["when"]
    link = "" if _LINKED.match(when) else "on "
    text = f"{speaker.name}'s {event} is {link}{when}"
    if is_birthday:
        value = date.iso[5:] if len(date.iso) >= 7 and not date.is_explicit else date.iso
        return _draft(f"{text} ({value})", speaker.subject, "birthday", value)
    return _draft(_with_date(text, date), speaker.subject, "event_on", f"{event} {date.iso}", date.start)


def _tidy(body: str) -> str:
    body = body.strip()
    kept = _MEANINGFUL_NOT.search(body)
    while True:
        shorter = _TAIL.sub("", body).rstrip(" ,.;:!-")
        if shorter == body:
            break
        body = shorter
    return body + " anymore" if kept and " not " in f" {body} " else body


def _object(raw: str, date: ResolvedDate | None, body: str, match: re.Match[str]) -> str:
    """The object without its date and tail."""
    text = raw.strip()
    if date is not None:
        phrase = body[date.begin : date.end]
        if text.endswith(phrase) and phrase != text:
            text = text.removesuffix(phrase)
    text = re.split(r",\s+(?:which|who|but|so|and then|because|where)\b|\s+(?:because|so that|although)\s+", text)[0]
    text = _DURATION.sub("", text)
    return third_person_pronouns(" ".join(_TRAILING.sub("", text).split()).replace(" ,", ","))


def _with_date(text: str, date: ResolvedDate | None) -> str:
    return text if date is None or date.is_explicit or date.iso in text else f"{text} ({date.iso})"


def _is_technical(name: str) -> bool:
    return name.split(" ", maxsplit=1)[0].casefold() in _TECHNICAL if name else True


_GENERAL: Final = re.compile(
    r"the (?:sea|ocean|beach|mountains?|outdoors|theatre|theater|cinema|piano|guitar|violin|rain|cold|heat|summer|winter|autumn|spring|city|"
    r"countryside|snow|sun|dark|beatles|taste of|smell of|colou?r|desert|forest|woods|lake|gym|opera|ballet|blues|night)\b",
    re.IGNORECASE,
)


def _general(object_text: str) -> bool:
    return bool(_GENERAL.match(object_text))


def _singular(kin: str) -> str:
    irregular = {"children": "children", "kids": "children", "child": "children", "kid": "children", "wives": "wife"}
    return irregular.get(kin, kin[:-1] if kin.endswith("s") else kin)
