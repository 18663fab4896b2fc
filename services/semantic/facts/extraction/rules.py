# ruff: noqa: E501 - a pattern reads best on one line
"""Facts by rules: no model, no network, the same result on every run. Rather no fact than a wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from services.common.interactions import SourceInteraction
from services.common.loop_budget import LoopBudget
from services.semantic.config import ExtractionSettings
from services.semantic.facts.extraction import instructions
from services.semantic.facts.extraction.attributes import attribute
from services.semantic.facts.extraction.clauses import Clause, clauses_of
from services.semantic.facts.extraction.dates import find_date
from services.semantic.facts.extraction.findings import START_DATE, Telling, draft, findings, tidy
from services.semantic.facts.extraction.mentions import favourite, relatives
from services.semantic.facts.extraction.patterns import NAMED_RULES, OTHERS_RULES, SPEAKER_RULES
from services.semantic.facts.extraction.person import third_person, third_person_pronouns
from services.semantic.facts.extraction.rule import Rule
from services.semantic.facts.model import FactDraft

_FUTURE: Final = re.compile(
    r"(?:am|is|are|will|would|plans?|going|have (?:got )?(?:an?|my|to|the|our)|has (?:an?|to)|needs?|must|fly|flies|start|starts|leave|leaves|"
    r"get|gets|hopes?|wants?|intend|return|arrive|arrives|begin|begins|move|moves|travel|graduate|retire|love|like|do|can)\b",
    re.IGNORECASE,
)
_YOU: Final = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_HEDGED: Final = 0.6
"""What a "probably" leaves of the confidence."""
_WE: Final = 0.95
"""What is said of several people may not hold of each."""
_OTHERS: Final = 0.9
"""What is said of somebody else is known at second hand."""
_ASKED_CONFIDENCE: Final = 0.85
_CLAUSE_CHARS_MIN: Final = 3

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Said:
    """Who speaks, and when."""

    who: str
    time: datetime
    has_name: bool


@dataclass(frozen=True, slots=True)
class _About:
    """Whom a clause is about."""

    who: str  # as a text names them
    subject: str  # as a fact names them
    rules: Sequence[Rule]


class RuleFactExtractor:
    """Reads first-person statements, and what is said of relatives, clause by clause against a list of patterns."""

    def __init__(self, settings: ExtractionSettings | None = None) -> None:
        """Use the settings, or the defaults."""
        self._settings: Final = settings or ExtractionSettings()

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        """The facts of each interaction, in order of appearance."""
        found: list[list[FactDraft]] = []
        budget = LoopBudget()
        for source in sources:
            found.append(self.facts_of(source))
            await budget.step()
        return found

    def facts_of(self, source: SourceInteraction) -> list[FactDraft]:
        """The facts of one interaction, none twice, at most as many as the settings allow."""
        turn = source.turn
        if turn.role not in self._settings.roles:
            return []
        name = " ".join(turn.speaker.split())
        said = _Said(name or self._settings.nameless_subject, turn.time, has_name=bool(name))
        drafts: dict[_Key, FactDraft] = {}
        for clause in clauses_of(turn.content, list_items=self._settings.list_items):
            for found in self._facts_of_clause(clause, said):
                if found.predicate == START_DATE:
                    _add_start(drafts, found)
                elif len(found.text) <= self._settings.text_chars_max:
                    key = (found.subject.casefold(), found.predicate, found.object.casefold())
                    drafts.setdefault(key, found)
            if len(drafts) >= self._settings.facts_per_turn_max:
                break
        return list(drafts.values())[: self._settings.facts_per_turn_max]

    def _facts_of_clause(self, clause: Clause, said: _Said) -> Iterator[FactDraft]:
        order = instructions.read(clause.full)
        if order is not None:
            yield from self._ordered(order, said)
            return
        yield from relatives(clause, said.who)
        liked = favourite(clause, said.who)
        if liked is not None:
            yield liked
            return
        about = _about(clause, said)
        if about is not None:
            yield from _by_rules(about, clause, said)
        if clause.subject in {"", "relative"}:
            own = attribute(clause, said.who, said=said.time)
            if own is not None:
                yield own

    def _ordered(self, order: instructions.Order, said: _Said) -> Iterator[FactDraft]:
        who = said.who
        if order.kind == "remember":
            yield from self._asked_to_remember(order.text, said)
        elif order.kind == "name":
            yield draft(f"{who} wants to be called {order.text}", who, "preferred_name", order.text)
        else:
            yield draft(f"{who} gave the standing instruction: {order.text}", who, "instruction", order.text)

    def _asked_to_remember(self, text: str, said: _Said) -> Iterator[FactDraft]:
        """What somebody asks to be remembered: the facts in it, or else the statement as it is."""
        clauses = clauses_of(text, list_items=False)
        found = [fact for clause in clauses for fact in self._facts_of_clause(clause, said)]
        if not found:
            told = third_person_pronouns(text)
            if told == text and said.has_name:
                return  # advice to another person, such as "remember that small things count"
            found = [draft(f"{said.who} asked to remember: {told}", said.who, "asked_to_remember", told)]
        for fact in found:
            weight = min(1.0, fact.importance + self._settings.asked_importance_bonus)
            yield replace(fact, importance=weight, confidence=max(fact.confidence, _ASKED_CONFIDENCE))


def _about(clause: Clause, said: _Said) -> _About | None:
    if clause.subject == "speaker":
        return _About(said.who, said.who, SPEAKER_RULES)
    if clause.subject == "relative":
        relative = f"{said.who}'s {clause.relation}"
        named = f"{relative} {clause.name}" if clause.name else relative
        return _About(named, clause.name or relative, OTHERS_RULES)
    return _About(clause.name, clause.name, NAMED_RULES) if clause.subject == "other" else None


def _by_rules(about: _About, clause: Clause, said: _Said) -> Sequence[FactDraft]:
    """The facts of the first rule that fits."""
    body = tidy(clause.body)
    if len(body) < _CLAUSE_CHARS_MIN or '""' in body:
        return ()
    for rule in about.rules:
        match = rule.pattern.match(body)
        if match is None:
            continue
        date = find_date(body, said.time, past=not (rule.looks_ahead or _FUTURE.match(body)))
        if date is None and (rule.needs_date or rule.needs_future):
            continue
        if rule.needs_future and date is not None and not date.is_future:
            continue
        text = _text(about, clause, body, said, is_promise=rule.needs_future and date is not None)
        if not text:
            return ()
        found = findings(Telling(rule, match, body, text, about.who, about.subject, date))
        if found:
            factor = _belief(clause)
            return [replace(fact, confidence=round(fact.confidence * factor, 4)) for fact in found]
    return ()


def _text(about: _About, clause: Clause, body: str, said: _Said, *, is_promise: bool) -> str:
    """The clause in the third person.

    Who is meant by "you" is known to nobody who reads it later: a promise is kept in its own words, all else is
    empty.
    """
    if _YOU.search(body):
        return f'{about.who} said: "{clause.full}"' if is_promise and said.has_name else ""
    told = third_person_pronouns(body) if clause.is_plural else third_person(body)
    return f"{about.who} {told}".replace(" can not ", " cannot ")


def _belief(clause: Clause) -> float:
    factor = _HEDGED if clause.is_unsure else 1.0
    factor *= _WE if clause.is_speaker_plural else 1.0
    return factor if clause.subject == "speaker" else factor * _OTHERS


def _add_start(drafts: dict[_Key, FactDraft], start: FactDraft) -> None:
    """Join "I start on Monday" to the job that the turn told of before: alone it says nothing."""
    for key, job in reversed(drafts.items()):
        if job.predicate in {"works_at", "starts_job", "works_as"} and job.subject == start.subject:
            told = start.text.removeprefix(f"{start.subject} ")
            text = f"{job.text} and {told}" if job.valid_from is None else job.text
            drafts[key] = replace(job, text=text, valid_from=job.valid_from or start.valid_from)
            return
