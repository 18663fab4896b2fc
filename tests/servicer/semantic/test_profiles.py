"""ProfileService over gRPC."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask

from mneme.common.v1 import common_pb2
from mneme.semantic.internal.v1 import semantic_pb2
from mneme.semantic.v1 import profile_pb2 as pb
from tests.servicer.semantic.conftest import ANN, OTHER_TENANT, READER, Running
from tests.servicer.semantic.refusals import refused
from tests.servicer.semantic.test_facts import interactions


async def profile(running: Running, metadata: tuple[tuple[str, str], ...] = READER) -> pb.Profile:
    response = await running.profiles.GetProfile(pb.GetProfileRequest(user_id="ann"), metadata=metadata)
    found: pb.Profile = response.profile
    return found


def update(request_id: str, *paths: str, etag: str = "", **preferences: object) -> pb.UpdateProfileRequest:
    return pb.UpdateProfileRequest(
        request_id=request_id,
        user_id="ann",
        preferences=pb.Preferences(**preferences),  # type: ignore[arg-type]
        update_mask=FieldMask(paths=paths),
        etag=etag,
    )


async def test_spec_3_10_a_new_profile_is_empty(running: Running) -> None:
    assert await profile(running) == pb.Profile(
        user_id="ann",
        preferences=pb.Preferences(),
        statistics=pb.ProfileStatistics(),
        learned_preferences=pb.Preferences(),
        fact_confidence_min=0.5,
    )


async def test_spec_3_10_a_mask_sets_what_it_names(running: Running) -> None:
    request = update("r1", language="en", detail_level="brief", other={"tone": "dry"}, preferred_sources=["a"])
    first = (await running.profiles.UpdateProfile(request, metadata=ANN)).profile
    second = await running.profiles.UpdateProfile(
        update("r2", "language", "preferred_sources", language="de-CH", detail_level="ignored"), metadata=ANN
    )
    preferences = second.profile.preferences
    assert (preferences.language, preferences.detail_level, list(preferences.preferred_sources)) == (
        "de-CH",
        "brief",
        [],
    )
    assert dict(preferences.other) == {"tone": "dry"}
    assert second.profile.etag != first.etag
    assert await profile(running) == second.profile


async def test_an_update_without_a_mask_clears_nothing(running: Running) -> None:
    await running.profiles.UpdateProfile(update("r1", language="en", detail_level="brief"), metadata=ANN)
    changed = await running.profiles.UpdateProfile(update("r2", detail_level="verbose"), metadata=ANN)
    assert changed.profile.preferences == pb.Preferences(language="en", detail_level="verbose")


async def test_an_old_etag_is_a_conflict(running: Running) -> None:
    first = (await running.profiles.UpdateProfile(update("r1", language="en"), metadata=ANN)).profile
    good = update("r2", language="de", etag=first.etag)
    await running.profiles.UpdateProfile(good, metadata=ANN)
    late = update("r3", language="fr", etag=first.etag)
    assert (await refused(running.profiles.UpdateProfile(late, metadata=ANN)))[:2] == (
        grpc.StatusCode.ABORTED,
        "CONFLICT",
    )
    assert (await profile(running)).preferences.language == "de"


async def test_an_etag_of_nothing_is_a_conflict(running: Running) -> None:
    request = update("r1", language="en", etag="made-up")
    assert (await refused(running.profiles.UpdateProfile(request, metadata=ANN)))[1] == "CONFLICT"


async def test_of_two_writers_with_one_etag_one_wins(running: Running) -> None:
    etag = (await running.profiles.UpdateProfile(update("r0", language="en"), metadata=ANN)).profile.etag
    requests = [update(f"r{i}", detail_level=f"level {i}", etag=etag) for i in range(1, 6)]
    outcomes = await asyncio.gather(
        *(running.profiles.UpdateProfile(request, metadata=ANN) for request in requests), return_exceptions=True
    )
    assert sum(isinstance(outcome, pb.UpdateProfileResponse) for outcome in outcomes) == 1


async def test_spec_6_3_a_repeated_update_gets_the_first_answer(running: Running) -> None:
    first = await running.profiles.UpdateProfile(update("r1", language="en"), metadata=ANN)
    await running.profiles.UpdateProfile(update("r2", language="de"), metadata=ANN)
    assert await running.profiles.UpdateProfile(update("r1", language="en"), metadata=ANN) == first
    assert (await profile(running)).preferences.language == "de"
    reused = update("r1", language="fr")
    assert (await refused(running.profiles.UpdateProfile(reused, metadata=ANN)))[1] == "REQUEST_ID_REUSED"


@pytest.mark.parametrize(
    ("request_", "fields"),
    [
        (update("r", "colour"), {"update_mask.paths[0]"}),
        (update("r", "language", "preferences.language"), {"update_mask.paths[1]"}),
        (update("r", language="not a tag"), {"preferences.language"}),
        (update("r", response_format="x" * 65), {"preferences.response_format"}),
        (update("r", preferred_sources=["a"] * 65), {"preferences.preferred_sources"}),
        (update("r", excluded_sources=["a", ""]), {"preferences.excluded_sources[1]"}),
        (update("r", other={"k": "v" * 513}), {"preferences.other[k]"}),
        (pb.UpdateProfileRequest(), {"request_id", "user_id"}),
    ],
)
async def test_wrong_updates_are_refused(running: Running, request_: pb.UpdateProfileRequest, fields: set[str]) -> None:
    code, _, found = await refused(running.profiles.UpdateProfile(request_, metadata=ANN))
    assert (code, found) == (grpc.StatusCode.INVALID_ARGUMENT, fields)


async def test_interactions_are_counted_once(running: Running) -> None:
    sources = interactions([("Ann", "Where is the sea?"), ("Ann", "I see."), ("Bot", "Over there.")])
    sources[1].turn.confidence = 0.5
    sources[2].turn.role = common_pb2.MESSAGE_ROLE_ASSISTANT
    request = semantic_pb2.ObserveInteractionsRequest(interactions=sources)
    assert (await running.internal.ObserveInteractions(request, metadata=ANN)).counted == 3
    assert (await running.internal.ObserveInteractions(request, metadata=ANN)).counted == 0
    found = await profile(running)
    statistics = found.statistics
    assert (statistics.user_turn_count, statistics.assistant_turn_count) == (2, 1)
    assert (statistics.question_count, statistics.conversation_count) == (1, 1)
    assert statistics.mean_confidence == pytest.approx(0.5)
    assert list(statistics.peak_hours) == [20]
    assert found.etag == ""


async def test_spec_3_10_a_profile_is_learned_from_turns_and_judgements_and_forgets_what_is_removed(
    running: Running,
) -> None:
    said = [("Ann", "Please keep your answers short."), ("Ann", "Never use Wikipedia as a source.")]
    sources = interactions([*said, *[("Bot", f"Fact {i}.") for i in range(4)]])
    for source in sources[2:]:
        source.turn.role = common_pb2.MESSAGE_ROLE_ASSISTANT
        source.turn.sources.append("Nature" if source is not sources[5] else "Blog")
    await running.internal.ObserveInteractions(
        semantic_pb2.ObserveInteractionsRequest(interactions=sources), metadata=ANN
    )
    for feedback, judged in ((1, sources[2:5]), (-1, sources[5:])):
        ids = [source.interaction_id for source in judged]
        await running.internal.JudgeInteractions(
            semantic_pb2.JudgeInteractionsRequest(user_id="ann", interaction_ids=ids, feedback=feedback), metadata=ANN
        )
    found = await profile(running)
    assert found.learned_preferences == pb.Preferences(
        detail_level="brief", preferred_sources=["Nature"], excluded_sources=["Wikipedia"]
    )
    assert (found.statistics.good_feedback_count, found.statistics.bad_feedback_count) == (3, 1)
    await running.profiles.UpdateProfile(update("r1", preferred_sources=["wikipedia"], detail_level="x"), metadata=ANN)
    asked = semantic_pb2.GetReadingProfileRequest(user_id="ann")
    reading = await running.internal.GetReadingProfile(asked, metadata=ANN)
    assert (list(reading.preferred_sources), list(reading.excluded_sources)) == (["wikipedia", "Nature"], [])
    ids = [source.interaction_id for source in sources]
    await running.internal.RemoveBySource(
        semantic_pb2.RemoveBySourceRequest(user_id="ann", interaction_ids=ids), metadata=ANN
    )
    left = await profile(running)
    assert (left.learned_preferences, left.statistics) == (pb.Preferences(), pb.ProfileStatistics())


async def test_spec_3_10_a_judgement_is_required_and_checked(running: Running) -> None:
    empty = semantic_pb2.JudgeInteractionsRequest(user_id="ann")
    assert (await refused(running.internal.JudgeInteractions(empty, metadata=ANN)))[2] == {"feedback"}
    wrong = semantic_pb2.JudgeInteractionsRequest(feedback=1, interaction_ids=["x"])
    assert (await refused(running.internal.JudgeInteractions(wrong, metadata=ANN)))[2] == {
        "user_id",
        "interaction_ids[0]",
    }


async def test_spec_3_10_what_an_isolated_context_teaches_stays_in_it(running: Running) -> None:
    inside = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL, context_id="agent")
    [said] = interactions([("Ann", "Reply in German.")])
    said.scope.CopyFrom(inside)
    await running.internal.ObserveInteractions(
        semantic_pb2.ObserveInteractionsRequest(interactions=[said]), metadata=ANN
    )
    outside = await profile(running)
    assert (outside.learned_preferences.language, outside.statistics.user_turn_count) == ("", 0)
    request = pb.GetProfileRequest(user_id="ann", reader_scope=inside)
    found = (await running.profiles.GetProfile(request, metadata=READER)).profile
    assert (found.learned_preferences.language, found.statistics.user_turn_count) == ("de", 1)


async def test_a_malformed_interaction_refuses_the_batch(running: Running) -> None:
    sources = interactions()
    sources[1].interaction_id = "x"
    sources[2].conversation_id = ""
    request = semantic_pb2.ObserveInteractionsRequest(interactions=sources)
    code, _, fields = await refused(running.internal.ObserveInteractions(request, metadata=ANN))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert fields == {"interactions[1].interaction_id", "interactions[2].conversation_id"}
    assert (await profile(running)).statistics == pb.ProfileStatistics()


async def test_spec_7_1_tenants_have_profiles_of_their_own(running: Running) -> None:
    await running.profiles.UpdateProfile(update("r1", language="en"), metadata=ANN)
    assert (await profile(running, OTHER_TENANT)).etag == ""


async def test_readers_do_not_write(running: Running) -> None:
    calls = (
        running.profiles.UpdateProfile(update("r1"), metadata=READER),
        running.profiles.DeleteProfile(pb.DeleteProfileRequest(), metadata=READER),
    )
    for call in calls:
        assert (await refused(call))[:2] == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")


async def test_a_profile_is_deleted_once(running: Running) -> None:
    present = (await running.profiles.UpdateProfile(update("r1", language="en"), metadata=ANN)).profile
    wrong = pb.DeleteProfileRequest(request_id="d0", user_id="ann", etag="x")
    assert (await refused(running.profiles.DeleteProfile(wrong, metadata=ANN)))[1] == "CONFLICT"
    request = pb.DeleteProfileRequest(request_id="d1", user_id="ann", etag=present.etag)
    for _ in range(2):
        assert await running.profiles.DeleteProfile(request, metadata=ANN) == pb.DeleteProfileResponse()
    assert (await profile(running)).etag == ""
    again = pb.DeleteProfileRequest(request_id="d2", user_id="ann")
    assert (await refused(running.profiles.DeleteProfile(again, metadata=ANN)))[1] == "NOT_FOUND"
    repeat = running.profiles.UpdateProfile(update("r1", language="en"), metadata=ANN)
    assert (await refused(repeat))[1] == "NOT_FOUND", "what was deleted is not written again"
