"""What a text that a caller states is about, and what facts exclude by their texts."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from services.common.knowledge.slots import named, slot_of
from services.common.owners import UserId
from services.common.parsing.model import ParsedText
from services.common.parsing.port import NoParser, ParserFailedError
from services.common.scope import GLOBAL_SCOPE
from services.semantic.config import EvidenceSettings, ExtractionSettings
from services.semantic.facts.extraction.stated import StatedFactReader
from services.semantic.facts.identity import Exclusion, exclusion, keys_of
from services.semantic.facts.model import Fact, FactCategory, FactDraft, FactId, FactRecord, Statement, StatementId
from services.semantic.facts.stating import StatedTexts, updated
from services.semantic.facts.store import FactStore
from services.semantic.facts.working_set import FactWorkingSet
from tests.support.embedding import HashingEmbedder
from tests.support.parsing import InProcessParser

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder()


def stated(text: str, subject: str = "", predicate: str = "", value: str = "") -> FactDraft:
    return FactDraft(text, FactCategory.CONTEXT, 0.9, 0.5, subject, predicate, value)


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value"),
    [
        ("Ada lives in Berlin.", "Ada", "lives_in", "Berlin"),
        ("Ada moved to Paris", "Ada", "lives_in", "Paris"),
        ("Ada is not allergic to nuts", "Ada", "not_allergic_to", "nuts"),
        ("Ada isn't allergic to nuts any more.", "Ada", "not_allergic_to", "nuts"),
        ("Ada's favourite editor is vim", "Ada", "favourite_editor", "vim"),
        ("Ada Lovelace lives in London", "Ada Lovelace", "lives_in", "London"),
        ("Ada's sister lives in Rome", "Ada's sister", "lives_in", "Rome"),
        ("The user lives in Berlin, Germany", "The user", "lives_in", "Berlin, Germany"),
        ("User now lives in Paris.", "The user", "lives_in", "Paris"),
        ("User's favorite editor is emacs", "The user", "favourite_editor", "emacs"),
        ("The user doesn't eat meat", "The user", "does_not_eat", "meat"),
        ("The user no longer lives in Berlin", "The user", "not_lives_in", "Berlin"),
        ("I own a boat", "The user", "owns", "a boat"),
        ("My name is Ada", "The user", "has_name", "Ada"),
    ],
)
async def test_spec_3_5_a_text_that_says_one_thing_is_read_as_a_turn_would_be(
    text: str, subject: str, predicate: str, value: str
) -> None:
    found = await StatedFactReader(InProcessParser()).read(text, NOW)
    assert found is not None
    assert (found.subject, found.predicate, found.object) == (subject, predicate, value)


@pytest.mark.parametrize(
    "text",
    [
        "Ada lives in Berlin and works at Acme",  # two facts
        "Ada lives in Berlin. She is a nurse.",
        "Ada lives in Berlin with her dog Rex",  # Rex would be lost
        "Ada is married to Tom",
        "Ann likes tea at noon.",
        "The user is mildly allergic to nuts",
        "The user lives in Berlin in winter",
        "The user probably lives in Berlin",
        "The user only likes tea",
        "Ada might move to Rome",
        "Tom thinks Ada lives in Rome",
        "Does Ada live in Rome?",
        'Ada said: "I live in Rome"',
        "Ada used to live in Rome",
        "The office is in Ulm.",
        "Python has a GIL",
        "Momo is a cat.",
        "",
        "🙂",
    ],
)
async def test_spec_3_5_a_text_that_says_more_or_nothing_plain_is_about_nothing_that_is_known(text: str) -> None:
    assert await StatedFactReader(InProcessParser()).read(text, NOW) is None


async def test_spec_3_5_a_date_in_a_text_says_since_when() -> None:
    found = await StatedFactReader(InProcessParser()).read("The user has lived in Berlin since 2020", NOW)
    assert found is not None
    assert found.valid_from == datetime(2020, 1, 1, tzinfo=UTC)


async def test_spec_3_5_without_a_parser_nothing_is_read() -> None:
    assert await StatedFactReader(NoParser()).read("Ada lives in Berlin.", NOW) is None


class BusyParser(NoParser):
    """A parser that is busy, or never comes to an end."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    async def parse(self, texts: Sequence[str]) -> list[ParsedText]:  # noqa: ARG002 - never read
        if self._hangs:
            await asyncio.Event().wait()
        raise ParserFailedError("busy")


@pytest.mark.parametrize("hangs", [False, True])
async def test_spec_3_5_what_cannot_be_read_now_is_stored_as_it_is_stated(hangs: bool) -> None:
    reader = StatedFactReader(BusyParser(hangs=hangs), ExtractionSettings(stated_wait_seconds=0.05))
    draft = stated("Ada lives in Berlin.")
    assert await StatedTexts(cast("FactStore", None), reader).completed(draft, NOW) == draft


@pytest.mark.parametrize("predicate", ["lives in", "Lives In", "LIVES_IN", "lives-in", "livesIn", " lives  in "])
def test_spec_3_5_one_slot_has_one_name_however_it_is_written(predicate: str) -> None:
    assert named(predicate) == "lives_in"
    one, other = (keys_of(stated("text", "Ada", p, "Berlin"), GLOBAL_SCOPE) for p in ("lives_in", predicate))
    assert (one.identity, one.topic) == (other.identity, other.topic)


@pytest.mark.parametrize(
    ("predicate", "takes_one"),
    [
        ("favourite_editor", True), ("Favorite Editor", True), ("preferredLanguage", True), ("default_branch", True),
        ("timezone", True), ("date of birth", True), ("preferred pronouns", True), ("favourite_series", True),
        ("favourite_bands", False), ("preferred languages", False), ("main_languages", False), ("role", False),
        ("plan", False), ("likes", False), ("owns", False), ("knows", False), ("city", False),
        ("current_project", False),
    ],
)  # fmt: skip
def test_spec_3_5_a_word_of_a_callers_own_takes_many_values_unless_it_says_one(predicate: str, takes_one: bool) -> None:
    assert slot_of(predicate).takes_one is takes_one


@pytest.mark.parametrize(
    ("earlier", "later", "found"),
    [
        (stated("The server runs Debian 12"), stated("The server runs Debian 13 now"), Exclusion.ENDED),
        (stated("The deadline is 4 May"), stated("The deadline is 6 May"), Exclusion.LINKED),
        (stated("Ann likes tea"), stated("Ann likes coffee"), Exclusion.NONE),
        (stated("Ada lives in Rome and works at Acme"), stated("Ada no longer works at Acme"), Exclusion.LINKED),
        (
            stated("Ada is on the Pro plan", "Ada", "plan", "Pro"),
            stated("Ada is on the Free plan now", "Ada", "Plan", "Free"),
            Exclusion.ENDED,
        ),
        (
            stated("Ada is on the Pro plan", "Ada", "plan", "Pro"),
            stated("Ada is on the Free plan now", "Bo", "plan", "Free"),
            Exclusion.NONE,
        ),
        (stated("Ada owns 2", "Ada", "owns", "2"), stated("Ada owns 3", "Ada", "owns", "3"), Exclusion.NONE),
        (stated("Ada is vegan", "Ada", "follows_diet", "vegan"), stated("Ada is not vegan any more"), Exclusion.ENDED),
        (stated("x", "Ada", "lives_in", "Rome"), stated("y", "Ada", "lives_in", "Ulm"), Exclusion.ENDED),
        (
            stated("Ada's brother Jan lives in Rome", "Jan", "lives_in", "Rome"),
            stated("Ada's friend Jan lives in Ulm", "Jan", "lives_in", "Ulm"),
            Exclusion.NONE,
        ),
    ],
)  # fmt: skip
def test_spec_3_5_texts_decide_where_no_slot_does(earlier: FactDraft, later: FactDraft, found: Exclusion) -> None:
    assert exclusion(earlier, later) is found


def _present(draft: FactDraft) -> Fact:
    parts = (draft.text, draft.subject, draft.predicate, draft.object, draft.category)
    return Fact(FactId("f"), UserId("u"), *parts, 0.9, 0.5, NOW, NOW)


ROME, ULM = stated("Ada lives in Rome", "Ada", "lives_in", "Rome"), stated("Ada lives in Ulm", "Ada", "lives_in", "Ulm")


@pytest.mark.parametrize(
    ("present", "text", "readings", "parts"),
    [
        (ROME, ULM.text, {ROME.text: ROME, ULM.text: ULM}, ("Ada", "lives_in", "Ulm")),
        (stated(ROME.text), ULM.text, {ROME.text: None, ULM.text: ULM}, ("Ada", "lives_in", "Ulm")),
        (ROME, "It rains.", {ROME.text: ROME, "It rains.": None}, ("", "", "")),
        (ROME, "Ada loves Rome", {ROME.text: ROME, "Ada loves Rome": None}, ("Ada", "lives_in", "Rome")),
        (replace(ROME, predicate="home"), ULM.text, {ROME.text: ROME, ULM.text: ULM}, ("Ada", "home", "Rome")),
        (ROME, ULM.text, {}, ("Ada", "lives_in", "Rome")),
    ],
)  # fmt: skip
def test_spec_3_5_a_new_text_says_what_a_fact_is_about_unless_the_caller_does(
    present: FactDraft, text: str, readings: dict[str, FactDraft | None], parts: tuple[str, ...]
) -> None:
    found = updated(replace(present, text=text), _present(present), readings)
    assert (found.text, found.subject, found.predicate, found.object) == (text, *parts)


def _working_set(prefix: str = "f") -> FactWorkingSet:
    ids = itertools.count()
    return FactWorkingSet(UserId("u"), EvidenceSettings(), new_id=lambda: f"{prefix}{next(ids):02}", model="m")


def _enter(working_set: FactWorkingSet, draft: FactDraft, hour: int) -> FactId:
    statement = Statement(StatementId(f"s{hour}"), NOW + timedelta(hours=hour), draft, ())
    return working_set.enter(statement, GLOBAL_SCOPE, EMBEDDER.vector(draft.text))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_spec_3_5_the_order_in_which_texts_are_compared_has_no_effect(order: tuple[int, ...]) -> None:
    drafts = [stated(f"The server runs Debian {number} now") for number in (11, 12, 13)]
    working_set = _working_set()
    ids = {place: _enter(working_set, drafts[place], place) for place in order}
    for one, other in itertools.combinations(order, 2):
        working_set.join(ids[one], ids[other])
    working_set.changes()
    states = [working_set.state(ids[place]) for place in range(3)]
    assert [state.valid_to_time for state in states] == [NOW + timedelta(hours=1), NOW + timedelta(hours=2), None]
    links = [{other for other in range(3) if ids[other] in state.contradictions} for state in states]
    assert links == [{1}, {0, 2}, {1}]


def test_spec_3_5_of_many_texts_that_contradict_each_other_the_last_ones_are_compared() -> None:
    count, settings = 40, EvidenceSettings()
    working_set = _working_set()
    texts = [stated(f"The weekly build takes {number} minutes") for number in range(1, count + 1)]
    ids = [_enter(working_set, text, hour) for hour, text in enumerate(texts)]
    for one, other in itertools.pairwise(ids):
        working_set.join(one, other)
    records = [working_set.record(fact_id) for fact_id in ids]
    working_set.changes()
    stored = [replace(r, fact=working_set.state(r.fact_id)) for r in records if r is not None]
    assert len(stored) == count
    later = _working_set("new")
    later.load(sorted(stored, key=lambda record: record.fact_id))
    new = later.enter(
        Statement(StatementId("new"), NOW + timedelta(days=9), stated("The weekly build takes 99 minutes now"), ()),
        GLOBAL_SCOPE,
        EMBEDDER.vector("x"),
    )
    later.join(new, ids[-1])
    changed = {change.fact.fact_id: change.fact for change in later.changes()}
    ended = {fact_id for fact_id, fact in changed.items() if fact.valid_to_time is not None}
    assert ended == set(ids[-settings.contradiction_texts_max - 1 :])
    assert changed.keys() == {new, *ended}


def test_spec_3_5_a_fact_that_was_stored_before_is_confirmed_by_the_same_words() -> None:
    """By a predicate as it was written then, and by a text alone; from then on it is compared with others."""
    draft = stated("Ada's home", "Ada", "Lives In", "Rome")
    former, own = keys_of(draft, GLOBAL_SCOPE).former, stated(ROME.text)
    assert former is not None
    said = Statement(StatementId("s0"), NOW, draft, ())
    text_keys = keys_of(own, GLOBAL_SCOPE)
    for record in (
        FactRecord(FactId("f9"), former, keys_of(draft, GLOBAL_SCOPE).text_identity, None, (said,), GLOBAL_SCOPE),
        FactRecord(
            FactId("f9"), text_keys.identity, text_keys.text_identity, None, (replace(said, draft=own),), GLOBAL_SCOPE
        ),
    ):
        working_set = _working_set()
        working_set.load([record])
        again = draft if record.identity == former else ROME
        assert former in {key.identity for key in working_set.keys([(draft, GLOBAL_SCOPE)])}
        assert _enter(working_set, again, 1) == "f9"
        _enter(working_set, ULM, 2)
        working_set.changes()
        assert working_set.state(FactId("f9")).valid_to_time == NOW + timedelta(hours=2)
