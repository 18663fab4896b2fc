"""Reads the fact that a caller states as a text alone, by the rules that read turns.

What is said of somebody by name, or of "the user", is read as if they said it themselves: "Ada is not allergic to nuts"
as "I am not allergic to nuts" of Ada. So it means the same as what Ada says in a turn.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.common.errors import StoreUnavailable
from services.common.interactions import SourceInteraction
from services.common.knowledge.slots import named, slot_of
from services.common.owners import InteractionId, UserId
from services.common.parsing.model import ParsedText, Token
from services.common.parsing.port import Parser, ParserFailedError, ParserMissingError
from services.common.turns import MessageRole, Turn
from services.semantic.config import ExtractionSettings
from services.semantic.facts.extraction.extractor import OF_NAMED, ParsedFactExtractor
from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.person import straight_quotes
from services.semantic.facts.extraction.tree import Tree
from services.semantic.facts.model import FactDraft

_USER: Final = re.compile(r"(?:the )?user(?='s | )", re.IGNORECASE)
_STAND_IN: Final = "Ada"
"""The parser reads a name where it may take "user" for a noun of another kind."""
_SPEAKER: Final = re.compile(r"(?:I|My|We|Our)\b")
_NAME_WORDS_MAX: Final = 3
_FIRST_PERSON: Final = {"be": "am", "have": "have", "do": "do"}
_OF_NAMED: Final = OF_NAMED | word_set(
    """
    prefers speaks follows_diet eats drinks smokes has_name preferred_name has_pronouns birthday born_in comes_from
    nationality intolerant_to has_condition left_job works_in studies_at graduated_from
    """
)
"""What is taken of somebody by name alone: a name may be that of a thing, of which much else is said."""
_NO_STATEMENT: Final = frozenset({"instruction", "asked_to_remember"})
_DENIALS: Final = frozenset({"not", "n't", "no", "never", "longer"})
_DENYING: Final = frozenset({"left_job", "does_not_drink", "does_not_eat", "does_not_smoke"})
_SMALL: Final = word_set(
    """
    i my am is are was were be been being have has had do does did the a an in at to for as of on now currently any more
    anymore old year years 's 've 'm .
    """
)
"""Words that add nothing to subject, predicate and object."""
_WORD: Final = re.compile(r"\w+(?:[-'.&/+]\w+)*|[^\w\s]")
_YEAR: Final = re.compile(r"\d{4}")
_OF_PAST: Final = frozenset({"VBD", "VBN"})


@dataclass(frozen=True, slots=True)
class _Spoken:
    """What a text says, in the first person of whom it says it."""

    text: str
    speaker: str  # empty: the user
    is_named: bool  # the speaker is known by name alone


class StatedFactReader:
    """Reads texts of which nothing else is known."""

    def __init__(self, parser: Parser, settings: ExtractionSettings | None = None) -> None:
        """Use the parser, which its owner closes, and the settings or the defaults."""
        self._parser: Final = parser
        self._settings: Final = settings or ExtractionSettings()
        self._extractor: Final = ParsedFactExtractor(parser, self._settings)

    async def read(self, text: str, time: datetime) -> FactDraft | None:
        """The one fact that says all that a text says; None where there is none, several, or something beside it.

        Args:
            text: What a caller states.
            time: When: "last week" is counted from then.

        Raises:
            StoreUnavailable: The parser is busy or was stopped, or does not read the text in time.
        """
        try:
            async with asyncio.timeout(self._settings.stated_wait_seconds):
                return await self._read(text, time)
        except (ParserFailedError, TimeoutError) as error:
            raise StoreUnavailable("the parser cannot be used right now") from error

    async def _read(self, text: str, time: datetime) -> FactDraft | None:
        try:
            spoken = await self._spoken(text)
            if spoken is None:
                return None
            turn = Turn(role=MessageRole.USER, content=spoken.text, time=time, speaker=spoken.speaker)
            source = SourceInteraction(InteractionId(""), UserId(""), "", 0, turn)
            texts = self._extractor.texts_of(source)
            parsed = await self._parser.parse(texts)
        except ParserMissingError:
            return None
        found = self._extractor.facts_of(source, parsed)
        if len(found) != 1 or len(parsed) != 1 or len(parsed[0].sentences) != 1:
            return None
        return found[0] if _is_taken(found[0], spoken) and _says_all(found[0], parsed[0].sentences[0]) else None

    async def _spoken(self, text: str) -> _Spoken | None:
        plain = straight_quotes(" ".join(text.split()))
        if len(plain) > self._settings.text_chars_max or "?" in plain or '"' in plain:
            return None
        if _SPEAKER.match(plain):
            return _Spoken(plain, "", is_named=False)
        is_user = _USER.match(plain) is not None
        [parsed] = await self._parser.parse([_USER.sub(_STAND_IN, plain, count=1) if is_user else plain])
        said = _in_first_person(parsed)
        if said is None:
            return None
        name, first_person = said
        return _Spoken(first_person, "" if is_user else name, is_named=not is_user)


def _is_taken(fact: FactDraft, spoken: _Spoken) -> bool:
    if not fact.object or fact.predicate in _NO_STATEMENT:
        return False
    slot = slot_of(fact.predicate)
    return not spoken.is_named or slot.name in _OF_NAMED or slot.takes_one


def _says_all(fact: FactDraft, tokens: Sequence[Token]) -> bool:
    """Whether each word of a sentence is in the fact, adds nothing, or is a date that the fact has.

    A word that is left out would be lost: of "married to Tom" the fact is that somebody is married, and who is married
    to Eva later would confirm it.
    """
    known = {*_words(fact.object), *_words(fact.subject), *fact.predicate.split("_")}
    words = [token.text.lower() for token in tokens]
    if _DENIALS.intersection(words) and not slot_of(fact.predicate).is_denied and fact.predicate not in _DENYING:
        return False
    is_dated = fact.valid_from is not None and (
        any(token.tag in _OF_PAST for token in tokens) or any(_YEAR.fullmatch(word) for word in words)
    )
    for place, token in enumerate(tokens):
        is_verb = token.head == place and token.pos in {"VERB", "AUX"}
        is_date = is_dated and (token.entity.endswith("-DATE") or words[place] == "since")
        is_known = not known.isdisjoint((words[place], named(words[place]), token.lemma.lower()))
        if not (is_verb or is_date or is_known or words[place] in _SMALL or words[place] in _DENIALS):
            return False
    return True


def _words(text: str) -> list[str]:
    """The words of a text, and the marks between them."""
    return _WORD.findall(text.lower())


def _in_first_person(parsed: ParsedText) -> tuple[str, str] | None:
    """Whom a sentence is about, by name, and the sentence as if they said it; None where it is not about a name."""
    if len(parsed.sentences) != 1:
        return None
    tree = Tree(parsed.sentences[0])
    end = next((place for place in range(len(tree)) if tree[place].tag != "NNP"), len(tree))
    if not 0 < end <= _NAME_WORDS_MAX or end == len(tree):
        return None
    name = " ".join(tree[place].text for place in range(end))
    if tree[end].tag == "POS":
        return name, f"My{parsed.text[tree[end].end :]}"
    if tree[end - 1].dep not in {"nsubj", "nsubjpass"}:
        return None
    verb = tree[end - 1].head
    verbs = [verb, *tree.children(verb, "aux", "auxpass")]
    words = {place: _conjugated(tree[place]) for place in verbs if tree[place].tag == "VBZ"}
    return name, "I" + _written(tree, end, words, parsed.text)


def _conjugated(token: Token) -> str:
    lemma = {"'s": "be", "is": "be"}.get(token.text.lower(), token.lemma.lower())
    return _FIRST_PERSON.get(lemma, lemma)


def _written(tree: Tree, first: int, words: dict[int, str], text: str) -> str:
    """The tokens from one on, with some words replaced; "isn't" becomes "am not"."""
    pieces: list[str] = []
    for place in range(first, len(tree)):
        token = tree[place]
        is_apart = text[tree[place - 1].end : token.start].isspace() or (place == first and token.text.startswith("'"))
        word = words.get(place, token.text)
        if token.text.lower() in {"n't", "not"} and words.get(place - 1) == "am":
            word, is_apart = "not", True
        pieces += [" " if is_apart else "", word]
    return "".join(pieces)
