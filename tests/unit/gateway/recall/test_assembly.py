"""Stage assemble: an answer fits into a message whatever was found."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from mneme.agentic.v1 import notes_pb2
from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2
from mneme.session.v1 import session_pb2
from services.common.paging import listed_bytes
from services.gateway.recall.answer.assembly import TOO_LONG, Assembled, assemble, fair_shares
from services.gateway.recall.answer.conflicts import Resolved
from services.gateway.recall.model import (
    CoarseResult,
    RankedEpisode,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
    RetrieverRank,
)

RANK = RetrieverRank("facts", 1, 0.0)
sizes = st.lists(st.integers(0, 400), max_size=12)


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=6), st.integers(0, 3_000))
def test_shares_add_up_to_the_total_where_more_is_wanted_and_the_small_get_what_they_want(
    wanted: list[int], total: int
) -> None:
    shares = fair_shares(wanted, total=total)
    assert all(0 <= share <= want for share, want in zip(shares, wanted, strict=True))
    assert sum(shares) == min(total, sum(wanted))
    cut = [share for share, want in zip(shares, wanted, strict=True) if share < want]
    assert all(min(cut) >= share - 1 for share in shares) if cut else shares == wanted


def assembled(memories: list[int], facts: list[int], notes: list[int], turns: list[int], bytes_max: int) -> Assembled:
    resolved = Resolved(
        tuple(
            RecalledMemory(
                RankedEpisode(str(i), 1.0, (), (), size), episodic_pb2.Episode(episode_id=str(i), query="x" * size)
            )
            for i, size in enumerate(memories)
        ),
        tuple(
            RecalledFact(facts_pb2.Fact(fact_id=str(i), text="x" * s), 0.0, 0.0, RANK, ()) for i, s in enumerate(facts)
        ),
        tuple(
            RecalledNote(notes_pb2.Note(note_id=str(i), content="x" * s), 0.0, 0.0, RANK, ())
            for i, s in enumerate(notes)
        ),
    )
    coarse = CoarseResult(
        episodes=None,
        recent_turns=tuple(
            session_pb2.SessionTurn(interaction_id=str(i), turn=common_pb2.Turn(content="x" * s))
            for i, s in enumerate(turns)
        ),
        reports=(),
    )
    return assemble(resolved, coarse, bytes_max=bytes_max)


@given(sizes, sizes, sizes, sizes, st.integers(2_000, 6_000))
def test_the_best_of_each_kind_and_the_newest_turns_are_told_as_far_as_they_fit(
    memories: list[int], facts: list[int], notes: list[int], turns: list[int], bytes_max: int
) -> None:
    told = assembled(memories, facts, notes, turns, bytes_max)
    parts: list[Sequence[Message]] = [
        [m.episode for m in told.memories],
        [f.fact for f in told.facts],
        [n.note for n in told.notes],
        told.recent_turns,
    ]
    assert sum(map(listed_bytes, parts)) <= bytes_max
    assert [m.ranked.episode_id for m in told.memories] == [str(i) for i in range(len(told.memories))]
    assert [hit.fact.fact_id for hit in told.facts] == [str(i) for i in range(len(told.facts))]
    assert [hit.note.note_id for hit in told.notes] == [str(i) for i in range(len(told.notes))]
    assert [t.interaction_id for t in told.recent_turns] == [str(i) for i in range(len(turns))][
        -len(told.recent_turns) or 99 :
    ]
    is_whole = [len(part) for part in parts] == [len(memories), len(facts), len(notes), len(turns)]
    assert told.reason == ("" if is_whole else TOO_LONG)


def test_one_long_kind_does_not_displace_the_others() -> None:
    told = assembled([100] * 5, [50] * 3, [1_000] * 20, [100] * 4, 6_000)
    assert (len(told.memories), len(told.facts), len(told.recent_turns)) == (5, 3, 4)
    assert 3 <= len(told.notes) < 20
