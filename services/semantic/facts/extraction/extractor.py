"""Facts read from the dependency tree of what people state. Rather no fact than a wrong one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from services.common.errors import StoreUnavailable
from services.common.interactions import SourceInteraction
from services.common.knowledge.slots import slot_of
from services.common.parsing.model import ParsedText
from services.common.parsing.port import Parser, ParserFailedError, ParserMissingError
from services.common.values.reading.irony import goes_on_ironically
from services.common.values.reading.quotations import quoted_places
from services.common.values.reading.unreal import unreal_places
from services.semantic.config import ExtractionSettings
from services.semantic.facts.extraction import instructions
from services.semantic.facts.extraction.birthdays import whose_birthday
from services.semantic.facts.extraction.clauses import Clause, clauses_of
from services.semantic.facts.extraction.dates import ResolvedDate
from services.semantic.facts.extraction.jobs import parted
from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.mentions import named_relatives
from services.semantic.facts.extraction.modality import Modality
from services.semantic.facts.extraction.person import third_person_pronouns
from services.semantic.facts.extraction.reader import Finding, Reader
from services.semantic.facts.extraction.readings import birthday_of, favourite_of, own_thing, read
from services.semantic.facts.extraction.statements import paragraphs
from services.semantic.facts.extraction.subjects import Subject
from services.semantic.facts.extraction.tree import Tree
from services.semantic.facts.extraction.vocabulary import predicate_of
from services.semantic.facts.model import FactDraft

_SHARED: Final = 0.95
"""What is said of several people may not hold of each."""
_OTHERS: Final = 0.9
"""What is said of somebody else is known at second hand."""
_BARE: Final = 0.9
"""A sentence without a subject is taken for one about the speaker."""
_ASKED_CONFIDENCE: Final = 0.85
_START: Final = "start_date"
_JOBS: Final = frozenset({"works_at", "starts_job", "works_as"})
OF_NAMED: Final = word_set(
    """
    getting_married expecting relationship_status lives_in works_at moving_to age works_as starts_job
    allergic_to visited event plans_to has_appointment likes dislikes studies plays has_pet has_children
    """
)
"""What is taken of somebody by name alone."""
_OF_PERSONS: Final = word_set("lives_in works_as moving_to getting_married relationship_status age expecting")
"""What is only said of persons."""
_PARAGRAPHS_MAX: Final = 64

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Said:
    """Who speaks, and when."""

    who: str
    time: datetime
    has_name: bool


class ParsedFactExtractor:
    """Reads what people state of themselves, their relatives and others by name."""

    def __init__(self, parser: Parser, settings: ExtractionSettings | None = None) -> None:
        """Use the parser, which its owner closes, and the settings or the defaults."""
        self._parser: Final = parser
        self._settings: Final = settings or ExtractionSettings()

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        """The facts of each interaction, in order of appearance.

        Raises:
            StoreUnavailable: The parser is busy or was stopped.
        """
        texts = await asyncio.to_thread(lambda: [self.texts_of(source) for source in sources])
        parsed: Iterator[ParsedText] | None
        try:
            parsed = iter(await self._parser.parse([text for one in texts for text in one]))
        except ParserMissingError:
            parsed = None  # what needs no tree is still read
        except ParserFailedError as error:
            raise StoreUnavailable("the parser cannot be used right now") from error

        def found() -> list[list[FactDraft]]:
            return [
                self.facts_of(source, [_plain(text) if parsed is None else next(parsed) for text in own])
                for source, own in zip(sources, texts, strict=True)
            ]

        # The rules take tens of milliseconds for a long turn.
        return await asyncio.to_thread(found)

    def texts_of(self, source: SourceInteraction) -> list[str]:
        """What of an interaction is to be parsed: its paragraphs; none of one that is not read."""
        turn = source.turn
        if turn.role not in self._settings.roles:
            return []
        content = turn.content[: self._settings.read_chars_max]
        return paragraphs(content, list_items=self._settings.list_items)[:_PARAGRAPHS_MAX]

    def facts_of(self, source: SourceInteraction, parsed: Sequence[ParsedText]) -> list[FactDraft]:
        """The facts of one interaction, none twice, at most as many as the settings allow.

        Args:
            source: The interaction.
            parsed: Its texts, parsed.
        """
        turn = source.turn
        name = " ".join(turn.speaker.split())
        said = _Said(name or self._settings.nameless_subject, turn.time, has_name=bool(name))
        drafts: dict[_Key, FactDraft] = {}
        for found in self._found(said, parsed):
            if found.predicate == _START:
                _add_start(drafts, found)
            elif len(found.text) <= self._settings.text_chars_max:
                drafts.setdefault((found.subject.casefold(), found.predicate, found.object.casefold()), found)
            if len(drafts) >= self._settings.facts_per_turn_max:
                break
        return list(drafts.values())

    def _found(self, said: _Said, parsed: Sequence[ParsedText]) -> Iterator[FactDraft]:
        known: Subject | None = None
        is_meant_otherwise = False
        sentences = [
            (tokens, text.text[tokens[0].start : tokens[-1].end].strip())
            for text in parsed
            for tokens in text.sentences
        ]
        said_so = [sentence for _, sentence in sentences]
        unreal = unreal_places(said_so)
        quoted = quoted_places("\n".join(text.text for text in parsed), said_so)
        for place, (tokens, sentence) in enumerate(sentences):
            if place in quoted:
                continue
            order = instructions.read_sentence(sentence)
            if order is not None and order.kind != "remember":
                yield replace(_ordered(order, said), sentence=sentence)
                continue
            is_meant_otherwise = place in unreal or (is_meant_otherwise and goes_on_ironically(sentence))
            if is_meant_otherwise:
                continue
            tree = Tree(tokens)
            found = list(_facts_of_sentence(tree, said, known))
            if order is not None:
                found = [self._asked(fact) for fact in found or _to_remember(order.text, said)]
            yield from (replace(fact, sentence=sentence) for fact in found)
            known = _last_person(tree) or known

    def _asked(self, fact: FactDraft) -> FactDraft:
        weight = min(1.0, fact.importance + self._settings.asked_importance_bonus)
        return replace(fact, importance=weight, confidence=max(fact.confidence, _ASKED_CONFIDENCE))


def _plain(text: str) -> ParsedText:
    """A text without a tree: only orders are read in it."""
    from services.common.parsing.model import Token
    from services.common.text import split_sentences

    sentences, begin = [], 0
    for sentence in split_sentences(text):
        start = max(text.find(sentence, begin), 0)
        begin = start + len(sentence)
        sentences.append((Token(sentence, sentence, "X", "XX", "ROOT", 0, "", start),))
    return ParsedText(text, tuple(sentences))


def _ordered(order: instructions.Order, said: _Said) -> FactDraft:
    if order.kind == "name":
        return draft(f"{said.who} wants to be called {order.text}", said.who, "preferred_name", order.text)
    return draft(f"{said.who} gave the standing instruction: {order.text}", said.who, "instruction", order.text)


def _to_remember(text: str, said: _Said) -> list[FactDraft]:
    """A statement as it is, where no fact was read in it."""
    reported = third_person_pronouns(text)
    if reported == text and said.has_name:
        return []  # advice to another person, such as "remember that small things count"
    return [draft(f"{said.who} asked to remember: {reported}", said.who, "asked_to_remember", reported)]


def _facts_of_sentence(tree: Tree, said: _Said, known: Subject | None) -> Iterator[FactDraft]:
    clauses = list(clauses_of(tree, known))
    denied = {place for clause in clauses if clause.modality is Modality.DENIED for place in clause.places}
    for described, kin, name in named_relatives(tree, denied=denied):
        article = "an" if described[0] in "aeiou" else "a"
        predicate = f"has_{_one(kin).replace('-', '_')}"
        yield draft(f"{said.who} has {article} {_one(described)} named {name}", said.who, predicate, name)
    for clause in clauses:
        if clause.modality is Modality.STATED:
            yield from _facts_of_clause(clause, said, known)


def _one(kin: str) -> str:
    """The singular of a relative."""
    return kin if kin.endswith("ss") else kin.removesuffix("s")


def _facts_of_clause(clause: Clause, said: _Said, known: Subject | None) -> Iterator[FactDraft]:
    subject = clause.subject
    person = whose_birthday(clause, known)
    if person is not None:
        who, name = _names(person, said)
        for finding in birthday_of(Reader(clause, who, said.time)):
            birthday = draft(finding.text, name, finding.predicate, finding.object)
            yield replace(birthday, confidence=round(birthday.confidence * _OTHERS, 4))
        return
    if subject.kind == "own":
        reader = Reader(clause, said.who, said.time)
        for finding in own_thing(reader):
            date = reader.dated(past=False) if finding.predicate in {"event_on"} else None
            text = with_date(finding.text, date)
            yield draft(text, said.who, finding.predicate, finding.object, date.start if date else None)
        return
    if subject.kind == "":
        for finding in favourite_of(Reader(clause, said.who, said.time)):
            yield draft(finding.text, said.who, finding.predicate, finding.object)
        return
    who, name = _names(subject, said)
    reader = Reader(clause, who, said.time)
    if not clause.places:
        return
    for finding in parted(reader, read(reader)):
        if subject.kind == "other" and finding.predicate not in (_OF_PERSONS if subject.is_doubtful else OF_NAMED):
            continue
        fact = _draft_of(finding, reader, clause, name, said)
        if fact is not None:
            yield fact


def _names(subject: Subject, said: _Said) -> tuple[str, str]:
    """How a text and how a fact names a subject."""
    if subject.kind == "speaker":
        return said.who, said.who
    if subject.kind == "relative":
        relative = f"{said.who}'s {subject.relation}"
        return (f"{relative} {subject.name}", subject.name) if subject.name else (relative, relative)
    return subject.name, subject.name


def _draft_of(finding: Finding, reader: Reader, clause: Clause, name: str, said: _Said) -> FactDraft | None:
    predicate = finding.predicate
    is_ahead = predicate in {"plans_to", "signed_up_for", "promised"}
    date = reader.dated(past=clause.is_about_past and not is_ahead)
    if finding.text:
        return draft(finding.text, name, predicate, finding.object)
    body = finding.body or reader.body
    words = body.lower().split()
    if {"you", "your", "yours", "yourself"} & {word.strip(".,!'\"") for word in words}:
        # Who is meant by "you" is known to nobody who reads it later: a promise is quoted, all else is left out.
        if predicate != "plans_to" or date is None or not said.has_name:
            return None
        body = f'said: "{_sentence_of(clause)}"'
    text = with_date(f"{reader.who} {body}", date)
    fact = draft(text, name, predicate, finding.object, date.start if date else None)
    factor = _SHARED if clause.subject.kind == "speaker" and clause.subject.is_plural else 1.0
    factor *= 1.0 if clause.subject.kind == "speaker" else _OTHERS
    factor *= _BARE if clause.is_bare else 1.0
    return replace(fact, confidence=round(fact.confidence * factor, 4))


def _sentence_of(clause: Clause) -> str:
    tree = clause.tree
    first = clause.subject.place if clause.subject.place >= 0 else clause.places[0]
    return _between(tree, first, clause.places[-1])


def _between(tree: Tree, first: int, last: int) -> str:
    pieces: list[str] = []
    for place in range(first, last + 1):
        if pieces and tree[place].start > tree[place - 1].end:
            pieces.append(" ")
        pieces.append(tree[place].text)
    return "".join(pieces).strip()


def _last_person(tree: Tree) -> Subject | None:
    """The one other person that a sentence is about; None where there are several."""
    found = {
        (clause.subject.kind, clause.subject.name, clause.subject.relation): clause.subject
        for clause in clauses_of(tree)
        if clause.subject.kind in {"relative", "other"} and not clause.subject.is_plural
    }
    return next(iter(found.values())) if len(found) == 1 else None


def with_date(text: str, date: ResolvedDate | None) -> str:
    """A text with its date written out, unless it names day, month and year itself."""
    return text if date is None or date.is_explicit or date.iso in text else f"{text} ({date.iso})"


def draft(text: str, subject: str, predicate: str, value: str, valid_from: datetime | None = None) -> FactDraft:
    """A fact with the category and weights of its predicate."""
    known = predicate_of(slot_of(predicate).name if predicate.startswith("not_") else predicate)
    return FactDraft(
        text=" ".join(text.split()),
        category=known.category,
        confidence=known.confidence,
        importance=known.importance,
        subject=subject,
        predicate=predicate,
        object=value,
        valid_from=valid_from,
    )


def _add_start(drafts: dict[_Key, FactDraft], start: FactDraft) -> None:
    """Join "I start on Monday" to the job that the turn named before: alone it says nothing."""
    for key, job in reversed(drafts.items()):
        if job.predicate in _JOBS and job.subject == start.subject:
            statement = start.text.removeprefix(f"{start.subject} ")
            text = f"{job.text} and {statement}" if job.valid_from is None else job.text
            drafts[key] = replace(job, text=text, valid_from=job.valid_from or start.valid_from)
            return
