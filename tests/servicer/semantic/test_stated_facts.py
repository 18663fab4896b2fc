"""Facts that callers state are compared with what else is known (SPEC 3.5)."""

from __future__ import annotations

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import facts_pb2 as pb
from tests.servicer.semantic.conftest import ANN, READER, Running
from tests.servicer.semantic.test_facts import all_facts, interactions, searched, stated

SERVER = "The old build server in the cold cellar runs Debian"
"""Texts that no rule reads, and that are similar enough to be compared."""
MEETING = "The weekly team meeting in the big room is at"


async def state(running: Running, *texts: str, **parts: object) -> list[pb.Fact]:
    """The facts that texts become, each a minute after the one before."""
    found = []
    for text in texts:
        running.clock.advance(seconds=60)
        request = stated(f"r {text}", text, **parts)
        found.append((await running.facts.CreateFact(request, metadata=ANN)).fact)
    return found


async def say(running: Running, text: str, speaker: str = "Ada") -> None:
    """A turn, a minute later."""
    running.clock.advance(seconds=60)
    [source] = interactions([(speaker, text)])
    source.turn.time.CopyFrom(Timestamp(seconds=int(running.clock.now().timestamp())))
    await running.internal.ExtractFacts(semantic_pb2.ExtractFactsRequest(interactions=[source]), metadata=ANN)


async def holding(running: Running) -> dict[str, bool]:
    """Which facts hold, by their texts."""
    return {fact.text: not fact.HasField("valid_to_time") for fact in await all_facts(running)}


async def by_text(running: Running) -> dict[str, pb.Fact]:
    return {fact.text: fact for fact in await all_facts(running)}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Ada lives in Berlin", "Ada moved to Paris"),
        ("Ada is allergic to nuts", "Ada is not allergic to nuts"),
        ("The user lives in Berlin", "User moved to Paris."),
        ("Ada's favourite editor is vim", "Ada's favourite editor is emacs"),
        (f"{SERVER} 12", f"{SERVER} 13 now"),
    ],
)
async def test_spec_3_5_a_stated_text_ends_what_it_excludes(running: Running, earlier: str, later: str) -> None:
    await state(running, earlier, later)
    found = await by_text(running)
    old, new = found[earlier], found[later]
    assert (old.valid_to_time.seconds, new.HasField("valid_to_time")) == (new.last_confirmed_time.seconds, False)
    assert (list(old.contradictions), list(new.contradictions)) == ([new.fact_id], [old.fact_id])
    assert [version.reason for version in old.versions] == [pb.FACT_VERSION_REASON_SUPERSEDED]
    assert (old.text, old.confidence) == (earlier, 0.9)


async def test_spec_3_5_texts_that_contradict_each_other_are_linked_and_both_hold(running: Running) -> None:
    one, other = await state(running, f"{MEETING} 08:25", f"{MEETING} 09:25")
    assert set((await holding(running)).values()) == {True}
    found = await by_text(running)
    assert [list(found[text].contradictions) for text in (one.text, other.text)] == [[other.fact_id], [one.fact_id]]
    await state(running, f"{MEETING} 10:25 now")
    assert await holding(running) == {one.text: False, other.text: False, f"{MEETING} 10:25 now": True}


async def test_spec_3_5_what_can_hold_together_stays(running: Running) -> None:
    texts = ["Ada likes tea", "Ada likes coffee", "Ada speaks German", "Ada speaks French", "Ada has a grey cat"]
    await state(running, *texts, "Ada has a white cat", f"{SERVER} 12", "The new server in the attic runs Debian 12")
    assert set((await holding(running)).values()) == {True}
    assert not any(fact.contradictions for fact in await all_facts(running))


async def test_spec_3_5_a_stated_text_and_a_turn_end_each_other(running: Running) -> None:
    await say(running, "I live in Berlin.")
    await state(running, "Ada moved to Paris")
    assert await holding(running) == {"Ada lives in Berlin": False, "Ada moved to Paris": True}
    await say(running, "I live in Rome now.")
    assert (await holding(running))["Ada moved to Paris"] is False


async def test_spec_3_5_a_turn_without_a_speaker_and_a_text_about_the_user_are_about_one_person(
    running: Running,
) -> None:
    await state(running, "The user lives in Berlin")
    await say(running, "I moved to Paris.", speaker="")
    assert await holding(running) == {"The user lives in Berlin": False, "The user moved to Paris": True}


async def test_spec_3_5_a_text_that_no_rule_reads_is_compared_with_turns_if_it_is_similar(running: Running) -> None:
    await say(running, "I'm vegan.")
    await state(running, "Ada is not vegan", "When it comes to food, Ada is not a vegan person")
    found = await by_text(running)
    assert list(found["Ada is vegan"].contradictions) == [found["Ada is not vegan"].fact_id]
    assert not found["When it comes to food, Ada is not a vegan person"].contradictions


async def test_spec_3_5_predicates_of_a_callers_own(running: Running) -> None:
    for predicate, place in (("lives in", "Berlin"), ("Lives In", "Paris"), ("lives_in", "Rome")):
        await state(running, f"Ada lives in {place}", subject="Ada", predicate=predicate, object=place)
    for editor in ("vim", "emacs"):
        await state(running, f"Ada edits in {editor}", subject="Ada", predicate="favourite_editor", object=editor)
    for word in ("role", "likes", "owns", "knows"):
        for value in ("Tom", "Eva"):
            await state(running, f"Ada {word} {value}", subject="Ada", predicate=word, object=value)
    ended = {text for text, holds in (await holding(running)).items() if not holds}
    assert ended == {"Ada lives in Berlin", "Ada lives in Paris", "Ada edits in vim"}
    assert (await by_text(running))["Ada lives in Paris"].predicate == "Lives In"


async def test_spec_3_5_a_callers_own_slot_ends_where_the_text_says_that_it_changed(running: Running) -> None:
    rest = "of the project in the big town"
    for plan, text in (("Pro", f"Ada is on the Pro plan {rest}"), ("Free", f"Ada is on the Free plan {rest} now")):
        await state(running, text, subject="Ada", predicate="plan", object=plan)
    assert list((await holding(running)).values()).count(False) == 1
    assert (await by_text(running))[f"Ada is on the Pro plan {rest}"].HasField("valid_to_time")


async def test_spec_3_5_what_a_caller_says_of_a_fact_is_not_changed(running: Running) -> None:
    [given] = await state(running, "Ada lives in Berlin", subject="Ada")
    assert (given.subject, given.predicate, given.object) == ("Ada", "", "")
    [read] = await state(running, "Ada moved to Paris in May 2025")
    assert (read.subject, read.predicate, read.object) == ("Ada", "lives_in", "Paris")
    assert (read.text, read.valid_from_time.ToJsonString()) == (
        "Ada moved to Paris in May 2025",
        "2025-05-01T00:00:00Z",
    )
    begin = Timestamp(seconds=1_700_000_000)
    [dated] = await state(running, "Ada moved to Rome in May 2025", valid_from_time=begin)
    assert dated.valid_from_time == begin


async def test_spec_3_5_a_repeated_request_returns_its_first_response(running: Running) -> None:
    first = await running.facts.CreateFact(stated("r1", "Ada lives in Berlin"), metadata=ANN)
    await state(running, "Ada moved to Paris")
    assert await running.facts.CreateFact(stated("r1", "Ada lives in Berlin"), metadata=ANN) == first
    assert len(await all_facts(running)) == 2


async def test_spec_3_5_a_deleted_text_ends_nothing_any_more(running: Running) -> None:
    for texts in (("Ada lives in Berlin", "Ada moved to Paris"), (f"{SERVER} 12", f"{SERVER} 13 now")):
        _, later = await state(running, *texts)
        request = pb.DeleteFactRequest(request_id=f"d{texts[0]}", user_id="ann", fact_id=later.fact_id)
        await running.facts.DeleteFact(request, metadata=ANN)
        left = (await by_text(running))[texts[0]]
        assert (left.HasField("valid_to_time"), list(left.contradictions)) == (False, [])


async def test_spec_3_5_an_update_of_a_text_is_compared_anew(running: Running) -> None:
    [home] = await state(running, "Ada lives in Berlin")
    running.clock.advance(seconds=60)
    request = pb.UpdateFactRequest(request_id="u1", user_id="ann", fact_id=home.fact_id, text="Ada lives in Ulm")
    updated = (await running.facts.UpdateFact(request, metadata=ANN)).fact
    assert (updated.subject, updated.predicate, updated.object) == ("Ada", "lives_in", "Ulm")
    await state(running, "Ada moved to Paris")
    assert await holding(running) == {"Ada lives in Ulm": False, "Ada moved to Paris": True}
    old, new = await state(running, f"{SERVER} 12", f"{SERVER} 13 now")
    for number, importance in enumerate((0.6, 0.7)):
        running.clock.advance(seconds=60)
        request = pb.UpdateFactRequest(
            request_id=f"i{number}", user_id="ann", fact_id=(old, new)[number].fact_id, importance=importance
        )
        await running.facts.UpdateFact(request, metadata=ANN)
    found = await by_text(running)
    assert (found[old.text].HasField("valid_to_time"), found[new.text].HasField("valid_to_time")) == (True, False)
    assert (list(found[old.text].contradictions), list(found[new.text].contradictions)) == (
        [new.fact_id],
        [old.fact_id],
    )
    request = pb.UpdateFactRequest(request_id="u2", user_id="ann", fact_id=new.fact_id, text="The cellar is empty.")
    await running.facts.UpdateFact(request, metadata=ANN)
    assert not (await by_text(running))[old.text].contradictions


async def test_spec_3_5_facts_of_another_scope_are_not_compared(running: Running) -> None:
    await state(running, "Ada lives in Berlin", f"{SERVER} 12")
    scope = {"level": 2, "project_id": "p"}
    await state(running, "Ada moved to Paris", f"{SERVER} 13 now", scope=scope)
    assert set((await holding(running)).values()) == {True}


async def test_spec_3_5_what_was_believed_before_a_text_came_is_still_known(running: Running) -> None:
    await state(running, f"{SERVER} 12")
    then = Timestamp(seconds=int(running.clock.now().timestamp()))
    await state(running, f"{SERVER} 13 now")
    listed = await running.facts.ListFacts(pb.ListFactsRequest(user_id="ann", known_at_time=then), metadata=READER)
    assert [(fact.text, fact.HasField("valid_to_time")) for fact in listed.facts] == [(f"{SERVER} 12", False)]
    hits = (await running.facts.SearchFacts(searched(SERVER), metadata=READER)).hits
    assert {hit.fact.text: hit.fact.HasField("valid_to_time") for hit in hits} == {
        f"{SERVER} 12": True,
        f"{SERVER} 13 now": False,
    }
