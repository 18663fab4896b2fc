"""The tier over a real gRPC server: what callers see."""

import math
import uuid
from datetime import timedelta
from typing import Any

import pytest

from mneme.common.v1 import common_pb2
from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.convert import scope_from_proto, timestamp
from tests.servicer.episodic.calls import candidates, candidates_request, new, refused, store, tokens, uid, vector
from tests.servicer.episodic.conftest import Client
from tests.support.clock import START
from tests.support.item_errors import reason_and_path


async def test_spec_2_1_an_episode_comes_back_as_it_was_stored(client: Client) -> None:
    sent = new(
        1,
        "look at my cat",
        response="how sweet",
        speaker="Ann",
        attachments=[common_pb2.Attachment(uri="u", mime_type="image/png", caption="a cat")],
        sources=["a"],
        confidence=0.5,
        importance=0.75,
        time=timestamp(START),
        scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p"),
        metadata={"k": "v"},
    )
    (result,) = await store(client, sent)
    stored = internal_pb.StoredEpisode(episode_id=uid(1), created=True, status=pb.EPISODE_STATUS_ACTIVE)
    assert result.response == stored
    client.clock.advance(days=365)

    response: Any = await client.call("GetEpisode", pb.GetEpisodeRequest(user_id="ann", episode_id=uid(1)))

    got = response.episode
    for name in [
        "episode_id",
        "user_id",
        "conversation_id",
        "position",
        "role",
        "speaker",
        "query",
        "response",
        "attachments",
        "sources",
        "confidence",
        "importance",
        "time",
        "scope",
        "metadata",
    ]:
        assert getattr(got, name) == getattr(sent, name), name
    assert got.decay_factor == pytest.approx(0.5)
    assert got.create_time.ToDatetime().year == START.year
    assert not got.HasField("last_access_time")


async def test_spec_2_5_an_importance_that_nobody_states_is_scored(client: Client) -> None:
    await store(client, new(1, "I am heartbroken, my sister died."), new(2, "The shop opens early."))
    request = pb.BatchGetEpisodesRequest(user_id="ann", episode_ids=[uid(1), uid(2)])
    response: Any = await client.call("BatchGetEpisodes", request)
    grave, plain = response.episodes
    assert plain.importance < grave.importance <= 1.0


async def test_spec_2_4_a_long_episode_has_a_summary(client: Client) -> None:
    text = " ".join(f"On {day} June Marta sold {day * 3} chairs to the hotel in the old town." for day in range(1, 30))
    await store(client, new(1, text), new(2, "short"))
    request = pb.BatchGetEpisodesRequest(user_id="ann", episode_ids=[uid(1), uid(2)])
    response: Any = await client.call("BatchGetEpisodes", request)
    long, short = response.episodes
    assert 0 < len(long.summary) < len(text)
    assert "June Marta sold" in long.summary
    assert short.summary == ""


async def test_spec_2_2_without_waiting_the_answer_comes_before_the_index(client: Client) -> None:
    request = internal_pb.StoreEpisodesRequest(episodes=[new(1)])
    response: Any = await client.call("StoreEpisodes", request)
    assert response.results[0].response.created

    (again,) = await store(client, new(1))
    assert (again.response.created, again.response.status) == (False, pb.EPISODE_STATUS_ACTIVE)


async def test_each_item_of_a_batch_succeeds_or_fails_by_itself(client: Client) -> None:
    results = await store(
        client,
        new(1),
        new(2, episode_id="nonsense"),
        new(3, role=0),
        new(4, position=1),
        new(5, query="x" * 40_000),
        new(6, user_id="a\x1fb"),
        new(7, piece_vectors=[vector(client, "x", model="another")]),
        new(8, confidence=math.nan),
        new(9, scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_TASK)),
        new(10, query=" "),
        new(11, response="x" * 40_000),
        new(12, position=-2),
        new(13, attachments=[common_pb2.Attachment(caption="c" * 5_000)]),
        new(14),
    )

    errors = {i: reason_and_path(r.error) for i, r in enumerate(results) if r.HasField("error")}
    assert errors == {
        1: ("INVALID_FIELD", "episodes[1].episode_id"),
        2: ("UNKNOWN_ENUM_VALUE", "episodes[2].role"),
        3: ("ALREADY_EXISTS", ""),
        4: ("TEXT_TOO_LONG", "episodes[4].query"),
        5: ("INVALID_FIELD", "episodes[5].user_id"),
        6: ("INVALID_VECTOR", "episodes[6].piece_vectors[0]"),
        7: ("INVALID_FIELD", "episodes[7].confidence"),
        8: ("INVALID_FIELD", "episodes[8].scope.task_id"),
        9: ("INVALID_FIELD", "episodes[9].query"),
        10: ("TEXT_TOO_LONG", "episodes[10].response"),
        11: ("INVALID_FIELD", "episodes[11].position"),
        12: ("TEXT_TOO_LONG", "episodes[12].attachments[0].caption"),
    }
    assert [i for i, result in enumerate(results) if result.response.created] == [0, 13]


async def test_vectors_that_are_passed_on_are_not_made_again(client: Client) -> None:
    def brought(*texts: str) -> dict[str, Any]:
        return {"piece_vectors": [vector(client, t) for t in texts], "piece_tokens": [tokens(client, t) for t in texts]}

    await store(client, new(1, "with all", **brought("with all")))
    assert client.embedder.documents == []

    await store(client, new(2, "with too many", **brought("a", "b")))
    assert client.embedder.documents == ["with too many"]

    await store(client, new(3, "without tokens", piece_vectors=[vector(client, "of another text")]))
    assert client.embedder.documents == ["with too many", "without tokens"]
    found = await candidates(client, "of another text")
    assert found[3]["dense_scores"] == pytest.approx(1.0, abs=1e-5)


async def test_candidates_are_the_union_of_lanes_and_neighbours(client: Client) -> None:
    texts = {
        1: "shall we go to the harbour on Sunday?",
        2: "yes, gladly",
        3: "I will bring the camera",
        10: "the quarterly numbers are due",
        20: "a harbour is a place for ships",
    }
    await store(client, *(new(number, text, speaker="Ann") for number, text in texts.items()))

    found = await candidates(client, "harbour ships", retriever_limit=2, neighbour_radius=2, neighbour_seeds=2)

    assert set(found) == {1, 2, 3, 20} | {n for n in (10,) if found.get(n, {}).get("dense_ranks")}
    best = found[20]
    assert (best["dense_ranks"], best["lexical_ranks"]) == (1, 1)
    assert best["dense_scores"] == pytest.approx(
        float(client.embedder.vector(texts[20]) @ client.embedder.vector("harbour ships")), abs=1e-5
    )
    assert (best["conversation"], best["positions"], best["speaker"]) == ("s1", 20, "Ann")
    assert best["times"] == START.timestamp()
    assert best["lengths"] == len(texts[20])
    assert found[1]["traits"] & 1
    assert found[1]["lexical_scores"] > 0
    assert found[2]["traits"] & 4
    assert found[3]["traits"] & 8
    assert found[3]["lexical_scores"] == 0
    assert (found[3]["dense_ranks"], found[3]["lexical_ranks"]) in {(0, 0), (2, 0)}


async def test_included_episodes_are_scored_without_being_found(client: Client) -> None:
    await store(client, *(new(n, f"harbour {n}", conversation_id=f"s{n}") for n in range(1, 6)))
    await store(client, new(9, "something else", conversation_id="s9"))

    found = await candidates(
        client, "harbour", retriever_limit=1, neighbour_radius=0, include_episode_ids=[uid(9), uid(77)]
    )

    assert 9 in found
    assert found[9]["dense_ranks"] == 0
    assert found[9]["dense_scores"] == pytest.approx(
        float(client.embedder.vector("something else") @ client.embedder.vector("harbour")), abs=1e-5
    )
    assert 77 not in found


def day(number: int) -> internal_pb.NamedTime:
    """A day, counted from the first one."""
    start = START + timedelta(days=number)
    return internal_pb.NamedTime(start_time=timestamp(start), end_time=timestamp(start + timedelta(days=1)))


async def test_spec_5_1_turns_of_a_time_that_is_named_are_candidates_where_no_other_of_it_is(client: Client) -> None:
    near = [new(n, f"harbour {n}", conversation_id=f"s{n}", time=timestamp(START)) for n in range(1, 6)]
    secret = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="secret")
    noon = timestamp(START + timedelta(days=40, hours=12))
    others = [
        new(8, "octopus", conversation_id="s8", time=noon),
        new(9, "hidden", conversation_id="s9", time=noon, scope=secret),
        new(10, "piano", conversation_id="s10", time=timestamp(START + timedelta(days=41))),
    ]
    await store(client, *near, *others)
    asked: dict[str, Any] = {"retriever_limit": 1, "neighbour_radius": 0}
    assert {8, 9, 10}.isdisjoint(await candidates(client, "harbour", **asked))

    found = await candidates(client, "harbour", times=[day(40)], **asked)

    assert {8, 9, 10} & set(found) == {8}
    assert (found[8]["dense_ranks"], found[8]["lexical_ranks"]) == (0, 0)
    assert found[8]["dense_scores"] == pytest.approx(
        float(client.embedder.vector("octopus") @ client.embedder.vector("harbour")), abs=1e-5
    )
    both = await candidates(client, "harbour", times=[day(40), day(0)], **asked)
    assert 8 not in both, "what was found is of a time that is named"


async def test_spec_5_1_no_more_times_are_taken_than_a_question_names(client: Client) -> None:
    request = candidates_request(client, "harbour", times=[day(number) for number in range(17)])
    assert await refused(client, "SearchCandidates", request) == ("INVALID_ARGUMENT", "INVALID_FIELD", ["times"])


async def test_every_candidate_has_the_score_a_complete_search_gives_it(client: Client) -> None:
    await store(client, *(new(n, f"harbour {'ship ' * (n % 7)} {n % 3}") for n in range(60)))

    everything = await candidates(client, "harbour ship 1", retriever_limit=1000)
    some = await candidates(client, "harbour ship 1", retriever_limit=5, neighbour_seeds=5)

    assert 5 < len(some) < len(everything) == 60
    for number, candidate in some.items():
        for name in ("dense_scores", "lexical_scores"):
            assert candidate[name] == pytest.approx(everything[number][name], abs=1e-5)


async def test_spec_7_1_a_small_tenant_beside_a_large_one_finds_all_its_own(client: Client) -> None:
    for start in range(0, 1_000, 250):
        await store(client, *(new(start + n, f"harbour {n}") for n in range(250)), tenant="large")
    await store(client, *(new(n, f"harbour ship {n}") for n in range(7)), tenant="small")

    assert set(await candidates(client, "harbour ship", tenant="small")) == set(range(7))
    assert await candidates(client, "harbour ship", tenant="nobody") == {}


async def test_spec_5_3_readers_see_their_own_place_and_those_above(client: Client) -> None:
    project = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p")
    other = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="q")
    await store(client, new(1, "plan"), new(2, "plan", scope=project), new(3, "plan", scope=other))

    assert set(await candidates(client, "plan")) == {1}
    assert set(await candidates(client, "plan", reader_scope=project)) == {1, 2}
    hidden = await candidates(client, "plan", include_episode_ids=[uid(3)])
    assert set(hidden) == {1}


async def test_spec_5_3_readers_see_what_the_gateway_says_is_granted_to_them(client: Client) -> None:
    places = [
        common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id=project, context_id=context)
        for project, context in [("p", ""), ("q", ""), ("p", "agent")]
    ]
    keys = [scope_from_proto(place, present=True, field_path="scope").key for place in places]
    await store(client, new(1, "plan"), *(new(n, "plan", scope=place) for n, place in enumerate(places, 2)))

    assert set(await candidates(client, "plan", reader_scope=places[0], granted=[keys[1]])) == {1, 2, 3}
    assert set(await candidates(client, "plan", reader_scope=places[2])) == {4}
    assert set(await candidates(client, "plan", reader_scope=places[2], granted=[keys[0]])) == {2, 4}
    similar = pb.SearchEpisodesRequest(user_id="ann", query="plan", reader_scope=places[2])
    found: Any = await client.call("SearchEpisodes", similar, granted=[keys[0]])
    assert {hit.episode.episode_id for hit in found.hits} == {uid(2), uid(4)}


async def test_spec_2_7_feedback_changes_rank_and_columns(client: Client) -> None:
    await store(client, new(1, "harbour ships"), new(2, "harbour ships"))
    search = pb.SearchEpisodesRequest(user_id="ann", query="harbour ships")

    first: Any = await client.call("SearchEpisodes", search)
    assert [hit.episode.episode_id for hit in first.hits] == [uid(1), uid(2)]
    feedback = internal_pb.RecordFeedbackRequest(
        request_id="r", user_id="ann", episode_ids=[uid(1), uid(50)], feedback=-1
    )
    answer: Any = await client.call("RecordFeedback", feedback)
    assert answer.episode_ids == [uid(1)]

    second: Any = await client.call("SearchEpisodes", search)
    assert [hit.episode.episode_id for hit in second.hits] == [uid(2), uid(1)]
    assert second.hits[1].score == pytest.approx(0.5 * second.hits[0].score)
    assert (await candidates(client, "harbour"))[1]["feedbacks"] == -1


async def test_spec_2_7_older_episodes_score_less(client: Client) -> None:
    await store(client, new(1, "harbour ships", time=timestamp(START)))
    client.clock.advance(days=365)
    await store(client, new(2, "harbour ships"))

    response: Any = await client.call(
        "SearchEpisodes",
        pb.SearchEpisodesRequest(user_id="ann", query_vector=vector(client, "harbour ships"), limit=5),
    )

    assert [hit.episode.episode_id for hit in response.hits] == [uid(2), uid(1)]
    assert [hit.score for hit in response.hits] == pytest.approx([1.0, 0.5], abs=1e-4)
    assert [hit.similarity for hit in response.hits] == pytest.approx([1.0, 1.0], abs=1e-4)


async def test_spec_2_7_accesses_are_written_behind_the_answer(client: Client) -> None:
    await store(client, new(1))
    for _ in range(3):
        await client.call("RecordAccess", internal_pb.RecordAccessRequest(user_id="ann", episode_ids=[uid(1), uid(1)]))
    await client.tier.episodes._accesses.flush()

    response: Any = await client.call("GetEpisode", pb.GetEpisodeRequest(user_id="ann", episode_id=uid(1)))
    assert response.episode.access_count == 3
    assert response.episode.HasField("last_access_time")


async def test_spec_2_7_a_search_counts_as_an_access_of_what_it_returned(client: Client) -> None:
    await store(client, new(1), new(2))
    request = pb.SearchEpisodesRequest(user_id="ann", query_vector=vector(client, "harbour ships"), limit=1)
    response: Any = await client.call("SearchEpisodes", request)
    (found,) = [hit.episode.episode_id for hit in response.hits]
    await client.tier.episodes._accesses.flush()
    counts = {}
    for number in (1, 2):
        one: Any = await client.call("GetEpisode", pb.GetEpisodeRequest(user_id="ann", episode_id=uid(number)))
        counts[uid(number)] = one.episode.access_count
    assert counts == {uid(1): 0, uid(2): 0} | {found: 1}


async def test_batch_get_keeps_the_order_and_skips_the_unknown(client: Client) -> None:
    await store(client, new(1), new(2), new(3))
    request = pb.BatchGetEpisodesRequest(user_id="ann", episode_ids=[uid(3), uid(9), uid(1)])

    response: Any = await client.call("BatchGetEpisodes", request)

    assert [episode.episode_id for episode in response.episodes] == [uid(3), uid(1)]


async def test_lists_page_newest_first(client: Client) -> None:
    for number in range(1, 6):
        client.clock.advance(hours=1)
        await store(client, new(number))
    request = pb.ListEpisodesRequest(user_id="ann", page_size=2)
    pages: list[list[str]] = []
    while True:
        response: Any = await client.call("ListEpisodes", request)
        pages.append([episode.episode_id for episode in response.episodes])
        request.page_token = response.next_page_token
        if not request.page_token:
            break

    assert pages == [[uid(5), uid(4)], [uid(3), uid(2)], [uid(1)]]


async def test_a_page_of_long_episodes_ends_before_it_is_too_large_for_an_answer(client: Client) -> None:
    texts = {uid(n): f"{n}" + "\u9577" * 32_000 for n in range(1, 41)}  # 96 kB each
    request = internal_pb.StoreEpisodesRequest(episodes=[new(n, texts[uid(n)]) for n in range(1, 41)])
    await client.call("StoreEpisodes", request)
    listing = pb.ListEpisodesRequest(user_id="ann", page_size=200)
    first: Any = await client.call("ListEpisodes", listing)
    listing.page_token = first.next_page_token
    second: Any = await client.call("ListEpisodes", listing)

    assert first.ByteSize() < 4 * 1024 * 1024
    assert {e.episode_id: e.query for page in (first, second) for e in page.episodes} == texts
    assert len(second.episodes) > 0
    assert not second.next_page_token


async def test_spec_5_6_statistics_of_candidates_come_when_asked_for(client: Client) -> None:
    await store(client, new(1, "harbour ships", time=timestamp(START), confidence=0.25), new(2, "harbour boats"))
    await client.call("RecordAccess", internal_pb.RecordAccessRequest(user_id="ann", episode_ids=[uid(1)]))
    await client.tier.episodes._accesses.flush()
    client.clock.advance(days=365)

    plain: Any = await client.call("SearchCandidates", candidates_request(client, "harbour"))
    asked: Any = await client.call("SearchCandidates", candidates_request(client, "harbour", with_statistics=True))

    assert (plain.access_counts, plain.last_access_times, plain.confidences, plain.decay_factors) == ([], [], [], [])
    columns = (asked.access_counts, asked.last_access_times, asked.confidences, asked.decay_factors)
    first = asked.episode_ids[:16] == uuid.UUID(uid(1)).bytes
    one, other = list(zip(*columns, strict=True)) if first else list(zip(*columns, strict=True))[::-1]
    assert one == pytest.approx((1, START.timestamp(), 0.25, 0.5))
    assert other == pytest.approx((0, 0.0, -1.0, 0.5))
