"""Forgetting by a query through the gateway."""

from __future__ import annotations

import grpc
import pytest

from mneme.gateway.v1 import erasure_pb2
from mneme_client import Client, MnemeClientError, SuggestionKind
from tests.servicer.gateway.test_erasure import everything, remembered
from tests.support.stack import Stubs, refusal

pytestmark = pytest.mark.asyncio(loop_scope="session")

LEO = "Archie's friend Leo comes every Wednesday."
NUTS = "Leo must not have nuts."
LEONIE = "Isla's friend Leonie comes every Thursday."


async def forget(gateway: Stubs, user_id: str, query: str = "", **fields: object) -> erasure_pb2.ForgetResponse:
    """Forgets, and waits for the end."""
    request = erasure_pb2.ForgetRequest(
        **{"request_id": f"{user_id} f", "user_id": user_id, "query": query, **fields}  # type: ignore[arg-type]
    )
    response = await gateway.erasures.Forget(request)
    while response.erasure.state == erasure_pb2.ERASURE_STATE_PENDING:
        found = await gateway.erasures.GetErasure(erasure_pb2.GetErasureRequest(erasure_id=response.erasure.erasure_id))
        response.erasure.CopyFrom(found.erasure)
    return response


async def test_spec_3_13_what_a_query_means_is_erased_and_others_stay(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await remembered(client, user_id, LEO, NUTS, LEONIE)
    response = await forget(gateway, user_id, "Archie's friend Leo")
    assert response.erasure.state == erasure_pb2.ERASURE_STATE_DONE
    assert response.plan.episodes == 2
    left = await everything(client, user_id, "What about Leo and the nuts?")
    assert "Leo comes" not in left
    assert "nuts." not in left
    assert LEONIE in left


async def test_spec_3_13_a_dry_run_erases_nothing_and_its_token_exactly_its_plan(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await remembered(client, user_id, LEO, LEONIE)
    dry = await forget(gateway, user_id, "Archie's friend Leo", dry_run=True)
    assert not dry.HasField("erasure")
    assert LEO in {planned.preview for planned in dry.plan.memories}
    assert LEO in await everything(client, user_id, "Who comes?")
    await remembered(client, user_id, NUTS, conversation="c2")  # after the plan
    response = await forget(gateway, user_id, plan_token=dry.plan_token)
    assert response.erasure.state == erasure_pb2.ERASURE_STATE_DONE
    left = await everything(client, user_id, "Who comes?")
    assert LEO not in left
    assert NUTS in left
    repeat = await forget(gateway, user_id, plan_token=dry.plan_token)
    assert (repeat.replayed, repeat.erasure.erasure_id) == (True, response.erasure.erasure_id)


async def test_spec_3_13_what_fits_nothing_erases_nothing(client: Client, gateway: Stubs, user_id: str) -> None:
    await remembered(client, user_id, LEO)
    for query in ("everything", "my submarine licence", "Barbara"):
        response = await forget(gateway, user_id, query, request_id=f"{user_id} {query}")
        assert not response.HasField("erasure")
        assert response.plan.episodes == 0
    assert LEO in await everything(client, user_id, "Who comes?")


async def test_spec_3_13_a_repeat_of_a_call_that_found_nothing_erases_nothing_that_was_said_since(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await remembered(client, user_id, NUTS)
    first = await forget(gateway, user_id, "my knee surgery")
    assert (first.HasField("erasure"), first.replayed) == (False, False)
    surgery = "I had knee surgery in October."
    await remembered(client, user_id, surgery, conversation="c2")
    repeat = await forget(gateway, user_id, "my knee surgery")
    assert (repeat.HasField("erasure"), repeat.replayed) == (False, True)
    assert surgery in await everything(client, user_id, "Which surgery?")
    refused = await refusal(
        gateway.erasures.Forget(
            erasure_pb2.ForgetRequest(request_id=f"{user_id} f", user_id=user_id, query="my surgery")
        )
    )
    assert refused.reason == "REQUEST_ID_REUSED"


async def test_spec_3_13_many_memories_need_the_token_of_a_dry_run(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await remembered(client, user_id, *(f"Leo said {number}." for number in range(60)))
    request = erasure_pb2.ForgetRequest(request_id=f"{user_id} f", user_id=user_id, query="Leo")
    refused = await refusal(gateway.erasures.Forget(request))
    assert (refused.reason, refused.facts["limit"]) == ("PRECONDITION_FAILED", "50")
    dry = await forget(gateway, user_id, "Leo", dry_run=True)
    assert dry.plan.episodes == 60
    response = await forget(gateway, user_id, plan_token=dry.plan_token)
    assert response.erasure.state == erasure_pb2.ERASURE_STATE_DONE
    assert "Leo said" not in await everything(client, user_id, "What did Leo say?")


async def test_spec_3_13_a_plan_token_is_good_for_its_user_alone(client: Client, gateway: Stubs, user_id: str) -> None:
    await remembered(client, user_id, LEO)
    dry = await forget(gateway, user_id, "Archie's friend Leo", dry_run=True)
    for fields in (
        {"user_id": f"{user_id}-other", "plan_token": dry.plan_token},
        {"user_id": user_id, "plan_token": dry.plan_token, "dry_run": True},
        {"user_id": user_id, "plan_token": "x"},
    ):
        request = erasure_pb2.ForgetRequest(request_id="r", **fields)
        refused = await refusal(gateway.erasures.Forget(request))
        assert (refused.code, refused.paths) == (grpc.StatusCode.INVALID_ARGUMENT, ("plan_token",))


async def test_spec_3_13_a_follow_up_goes_and_a_dry_run_says_why_and_what_stays(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    surgery, hurt, oven = "I had knee surgery in October.", "It hurt for a week.", "The oven needs cleaning."
    await remembered(client, user_id, surgery, hurt, oven)
    dry = await forget(gateway, user_id, "my knee surgery", dry_run=True)
    reasons = {planned.preview: planned.reason for planned in dry.plan.memories}
    assert reasons[surgery] == erasure_pb2.PLANNED_REASON_WORDS
    assert reasons[hurt] == erasure_pb2.PLANNED_REASON_FOLLOW_UP
    assert [(one.preview, one.reason) for one in dry.plan.near] == [(oven, erasure_pb2.PLANNED_REASON_OWN_SUBJECT)]
    await forget(gateway, user_id, plan_token=dry.plan_token)
    left = await everything(client, user_id, "What hurt for a week?")
    assert hurt not in left
    assert oven in left


async def test_spec_3_13_a_conversation_goes_as_a_whole_where_the_query_says_so(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    brooch, price, birthday = "I'd like to sell the brooch.", "Not under 700.", "Grandmother's birthday is on 2 June."
    await remembered(client, user_id, brooch, price)
    await remembered(client, user_id, birthday, conversation="c2")
    response = await forget(gateway, user_id, "our conversation about the brooch")
    assert {planned.reason for planned in response.plan.memories if planned.preview == price} == {
        erasure_pb2.PLANNED_REASON_CONVERSATION
    }
    left = await everything(client, user_id, "What about the price and the birthday?")
    assert price not in left
    assert birthday in left


async def test_spec_4_6_what_was_to_be_forgotten_or_corrected_is_no_gap_of_suggestions(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await remembered(client, user_id, LEO, LEONIE)
    await client.recall(user_id, "xylophone quartz gamma radiation")
    await forget(gateway, user_id, "my affair with Bruno")
    with pytest.raises(MnemeClientError):
        await client.correct(user_id, "I keep wasps.", query="I keep bees.")
    gaps = {each.topic for each in await client.get_suggestions(user_id) if each.kind is SuggestionKind.GAP}
    assert "xylophone quartz gamma radiation" in gaps
    assert not {"my affair with Bruno", "I keep bees."} & gaps


async def test_spec_3_13_a_namesake_of_another_relation_stays_and_a_dry_run_shows_it(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    cat, key, oban = (
        "Martha next door feeds the cat when we're away.",
        "Martha next door has our spare key.",
        "My grandmother Martha was born in 1931 in Oban.",
    )
    dance = "Martha was a wonderful dancer."
    await remembered(client, user_id, cat, key, oban)
    await remembered(client, user_id, dance, conversation="c2")
    dry = await forget(gateway, user_id, "our neighbour Martha", dry_run=True)
    assert {one.preview.removeprefix("User: ") for one in dry.plan.memories} == {cat, key}
    near = {one.preview: one.reason for one in dry.plan.near}
    assert near[oban] == erasure_pb2.PLANNED_REASON_ANOTHER
    assert near[dance] == erasure_pb2.PLANNED_REASON_UNSURE
    await forget(gateway, user_id, "our neighbour Martha")
    left = await everything(client, user_id, "What about Martha?")
    assert oban in left
    assert cat not in left


async def test_spec_3_13_the_same_thing_goes_without_the_name_and_what_is_excepted_stays(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    bowling, cake, guests, company = (
        "we're throwing a surprise party for bo at the bowling alley on the 24th",
        "the cake for the surprise party comes from lindner",
        "the guest list of the surprise party is in the drawer",
        "the company party is on the 30th",
    )
    await remembered(client, user_id, bowling, cake, guests, company)
    query = "the surprise party for Bo, but not the guest list"
    dry = await forget(gateway, user_id, query, dry_run=True)
    assert {one.preview.removeprefix("User: ") for one in dry.plan.memories} == {bowling, cake}
    near = {one.preview: one.reason for one in dry.plan.near}
    assert near[guests] == erasure_pb2.PLANNED_REASON_EXCEPTED
    await forget(gateway, user_id, query)
    left = await everything(client, user_id, "What about the party?")
    assert cake not in left
    assert guests in left
    assert company in left


async def test_spec_3_13_a_thing_of_others_with_the_same_word_stays_and_a_dry_run_shows_it(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    own = "I have a tattoo of a heron on my shoulder."
    studio = "The tattoo studio in Mill Lane has let its upper floor."
    await remembered(client, user_id, own, studio)
    dry = await forget(gateway, user_id, "my tattoo of a heron", dry_run=True)
    assert {one.preview.removeprefix("User: ") for one in dry.plan.memories} == {own}
    assert {one.preview: one.reason for one in dry.plan.near} == {studio: erasure_pb2.PLANNED_REASON_ANOTHER}
