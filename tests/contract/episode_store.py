"""What every `EpisodeStore` must do."""

import asyncio
from collections.abc import Sequence

import pytest

from services.common.errors import InvalidArgument, Reason
from services.common.scope import GLOBAL_SCOPE, GrantedReader, Reader, Scope, ScopeLevel
from services.common.turn_traits import Trait
from services.common.turns import Attachment, MessageRole
from services.episodic.model import Episode, EpisodeStatus, Owner, TenantId, UserId, neighbour_keys
from services.episodic.store import AccessCount, EpisodeCursor, EpisodeFilter, EpisodeStore, EpisodeUse
from tests.contract.episode_background import NOW, EpisodeBackgroundContract, activate, insert
from tests.contract.episode_removal import EpisodeRemovalContract
from tests.contract.episode_samples import (
    GLOBAL,
    OWNER,
    SAME_NAME_ELSEWHERE,
    TENANT,
    episode_id,
    later,
    new_episode,
    write,
)
from tests.contract.episode_tokens import EpisodeTokensContract


class EpisodeStoreContract(EpisodeBackgroundContract, EpisodeTokensContract, EpisodeRemovalContract):
    """Subclass it with a fixture `store`, a fresh store that notes the model `model-a`."""

    async def test_an_absent_episode_is_missing_from_every_answer(self, store: EpisodeStore) -> None:
        assert await store.get(OWNER, [episode_id(1)]) == {}
        assert await store.statuses(OWNER, [episode_id(1)]) == {}
        assert await store.list_episodes(OWNER, EpisodeFilter(), limit=10, after=None) == []
        assert len(await store.columns_at(OWNER, [new_episode().key], scope_keys=GLOBAL)) == 0

    async def test_spec_2_1_every_field_comes_back(self, store: EpisodeStore) -> None:
        episode = new_episode(
            3,
            role=MessageRole.ASSISTANT,
            speaker="Zoë",
            query="What’s this? 🙂",  # noqa: RUF001
            response="A cat; it says \"meow\" and {'a': 1}",
            attachments=(Attachment("https://example.org/cat.png", "image/png", "a cat"),),
            sources=("https://example.org/a", "b"),
            confidence=0.25,
            importance=0.75,
            scope_key="3\x1fp\x1fs",
            metadata={"k": "v", "": "empty"},
        )
        await insert(store, episode)

        stored = (await store.get(OWNER, [episode.episode_id]))[episode.episode_id]

        assert stored.content == episode
        assert stored.create_time == NOW
        assert stored.feedback == 0
        assert stored.access_count == 0
        assert stored.last_access_time is None

    async def test_spec_2_2_a_new_episode_is_pending_and_not_searchable(self, store: EpisodeStore) -> None:
        episode = new_episode()
        await insert(store, episode)

        assert await store.statuses(OWNER, [episode.episode_id]) == {
            episode.episode_id: EpisodeStatus.PENDING_EMBEDDING
        }
        assert len(await store.columns_at(OWNER, [episode.key], scope_keys=GLOBAL)) == 0

        await activate(store)
        assert len(await store.columns_at(OWNER, [episode.key], scope_keys=GLOBAL)) == 1

    async def test_a_repeated_id_is_left_as_it_is(self, store: EpisodeStore) -> None:
        first = new_episode(query="the first text")
        await insert(store, first)
        await activate(store)

        again = await store.insert(TENANT, [new_episode(query="another text", position=7)], now=NOW)

        assert [(outcome.created, outcome.status) for outcome in again] == [(False, EpisodeStatus.ACTIVE)]
        stored = await store.get(OWNER, [first.episode_id])
        assert stored[first.episode_id].content.query == "the first text"

    async def test_an_id_twice_in_a_batch_is_stored_once(self, store: EpisodeStore) -> None:
        outcomes = await store.insert(TENANT, [new_episode(1), new_episode(1)], now=NOW)

        assert [outcome.created for outcome in outcomes] == [True, False]
        assert [outcome.status for outcome in outcomes] == [EpisodeStatus.PENDING_EMBEDDING] * 2

    async def test_a_place_in_a_conversation_is_held_by_one_episode(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))

        intruder = new_episode(2, position=1)
        outcomes = await store.insert(TENANT, [intruder, new_episode(3)], now=NOW)

        assert [(outcome.created, outcome.status) for outcome in outcomes] == [
            (False, None),
            (True, EpisodeStatus.PENDING_EMBEDDING),
        ]
        assert await store.get(OWNER, [intruder.episode_id]) == {}

    async def test_overlapping_writers_store_each_episode_once(self, store: EpisodeStore) -> None:
        episodes = [new_episode(number) for number in range(1, 31)]
        outcomes = await asyncio.gather(*(store.insert(TENANT, episodes, now=NOW) for _ in range(4)))

        for number in range(len(episodes)):
            assert sum(answer[number].created for answer in outcomes) == 1
        assert len(await store.list_episodes(OWNER, EpisodeFilter(), limit=100, after=None)) == 30

    async def test_spec_7_1_nothing_of_another_tenant_or_user_is_reachable(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await activate(store)
        key = new_episode(1).key

        for stranger in (SAME_NAME_ELSEWHERE, Owner(TENANT, UserId("bob"))):
            assert await store.get(stranger, [episode_id(1)]) == {}
            assert await store.list_episodes(stranger, EpisodeFilter(), limit=10, after=None) == []
            assert len(await store.columns_at(stranger, [key], scope_keys=GLOBAL)) == 0
            assert len(await store.columns_of(stranger, [episode_id(1)], scope_keys=GLOBAL)) == 0
            matching, _ = await store.matching_columns(stranger, "turn", scope_keys=GLOBAL, limit=10)
            assert len(matching) == 0
            changed = await store.set_feedback(stranger, [episode_id(1)], -1, key=write("r"), now=NOW)
            assert changed == []
        assert (await store.get(OWNER, [episode_id(1)]))[episode_id(1)].feedback == 0

    async def test_two_tenants_may_use_the_same_ids_and_places(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1, query="mine"))
        await insert(store, new_episode(1, owner=SAME_NAME_ELSEWHERE, query="theirs"))

        assert (await store.get(OWNER, [episode_id(1)]))[episode_id(1)].content.query == "mine"

    async def test_lists_are_newest_first_with_ties_by_id_and_pages_survive_writes(self, store: EpisodeStore) -> None:
        same_time = later(hours=3)
        await insert(
            store,
            *(new_episode(n, time=same_time if 2 <= n <= 5 else later(hours=n)) for n in range(1, 9)),
        )
        first = await store.list_episodes(OWNER, EpisodeFilter(), limit=5, after=None)
        await insert(store, new_episode(9))  # newer than everything: it belongs to no later page
        last = first[-1].content
        rest = await store.list_episodes(
            OWNER, EpisodeFilter(), limit=5, after=EpisodeCursor(last.time, last.episode_id)
        )

        assert numbers([*first, *rest]) == [8, 7, 6, 5, 4, 3, 2, 1]

    async def test_lists_can_be_of_one_conversation_or_status(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2, conversation_id="s2"))
        await activate(store)
        await insert(store, new_episode(3))

        async def listed(query: EpisodeFilter) -> list[int]:
            return numbers(await store.list_episodes(OWNER, query, limit=10, after=None))

        assert await listed(EpisodeFilter(conversation_id="s1")) == [3, 1]
        assert await listed(EpisodeFilter(status=EpisodeStatus.ACTIVE)) == [2, 1]
        assert await listed(EpisodeFilter(conversation_id="s1", status=EpisodeStatus.ACTIVE)) == [1]
        assert await listed(EpisodeFilter(conversation_id="s")) == []

    async def test_spec_5_3_lists_hold_what_a_reader_sees_and_pages_are_full(self, store: EpisodeStore) -> None:
        project = Scope(ScopeLevel.PROJECT, "p1")
        agent = Scope(ScopeLevel.PROJECT, "p1", context_id="agent")
        places = (GLOBAL_SCOPE, project, Scope(ScopeLevel.PROJECT, "p2"), agent)
        await insert(store, *(new_episode(n, time=later(hours=n), scope_key=places[n % 4].key) for n in range(12)))

        async def listed(reader: Reader | None, conversation_id: str | None = None) -> list[int]:
            paged: list[Episode] = []
            after = None
            query = EpisodeFilter(conversation_id=conversation_id, reader=reader)
            while page := await store.list_episodes(OWNER, query, limit=2, after=after):
                paged += page
                after = EpisodeCursor(page[-1].content.time, page[-1].content.episode_id)
                assert len(page) == 2 or len(paged) % 2
            return numbers(paged)

        for conversation_id in (None, "s1"):
            assert await listed(None, conversation_id) == list(range(11, -1, -1))
            assert await listed(GLOBAL_SCOPE, conversation_id) == [8, 4, 0]
            assert await listed(project, conversation_id) == [9, 8, 5, 4, 1, 0]
            assert await listed(agent, conversation_id) == [11, 7, 3]
            assert await listed(GrantedReader(GLOBAL_SCOPE, (agent,)), conversation_id) == [11, 8, 7, 4, 3, 0]

    async def test_columns_describe_the_episodes(self, store: EpisodeStore) -> None:
        episode = new_episode(4, speaker="Ann", query="Where did I put my keys?", importance=0.5)
        await insert(store, episode)
        await activate(store)

        columns = await store.columns_at(OWNER, [episode.key, *neighbour_keys([episode.key], 2)], scope_keys=GLOBAL)

        assert columns.keys == [episode.key]
        assert columns.episode_ids == [episode.episode_id.bytes]
        assert (columns.conversation_ids, columns.positions, columns.speakers) == (["s1"], [4], ["Ann"])
        assert columns.times == [episode.time.timestamp()]
        assert columns.lengths == [len("Where did I put my keys?")]
        kinds = Trait.QUESTION | Trait.FIRST_PERSON | Trait.ASSISTANT
        assert Trait(columns.traits[0]) & kinds == Trait.QUESTION | Trait.FIRST_PERSON
        assert (columns.feedbacks, columns.importances) == ([0], [0.5])
        by_id = await store.columns_of(OWNER, [episode.episode_id, episode_id(99)], scope_keys=GLOBAL)
        assert by_id == columns

    async def test_spec_5_6_uses_tell_accesses_and_confidence(self, store: EpisodeStore) -> None:
        used, unused = new_episode(1, confidence=0.25), new_episode(2)
        await insert(store, used, unused)
        await activate(store)
        await store.add_accesses([AccessCount(owner=OWNER, episode_id=episode_id(1), count=3, last_time=NOW)])

        uses = await store.uses(OWNER, [used.key, unused.key, new_episode(3).key])

        assert uses == {used.key: EpisodeUse(3, NOW.timestamp(), 0.25), unused.key: EpisodeUse(0, None, None)}
        assert await store.uses(SAME_NAME_ELSEWHERE, [used.key]) == {}
        assert await store.uses(OWNER, []) == {}

    async def test_spec_5_3_columns_hold_visible_scopes_only(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2, scope_key="2\x1fp"))
        await activate(store)
        keys = [new_episode(1).key, new_episode(2).key]

        assert (await store.columns_at(OWNER, keys, scope_keys=GLOBAL)).positions == [1]
        both = await store.columns_at(OWNER, keys, scope_keys=("1", "2\x1fp"))
        assert sorted(both.positions) == [1, 2]

    async def test_changes_tell_what_became_searchable_and_what_no_longer_is(self, store: EpisodeStore) -> None:
        assert (await store.changes(OWNER, since=0, limit=10)).revision == 0
        await insert(store, new_episode(1), new_episode(2))
        await activate(store)

        everything = await store.changes(OWNER, since=0, limit=10)
        assert sorted(everything.columns.positions) == [1, 2]
        assert everything.searchable == [True, True]
        nothing = await store.changes(OWNER, since=everything.revision, limit=10)
        assert (len(nothing.columns), nothing.revision, nothing.begins_anew) == (0, everything.revision, False)

        await store.set_feedback(OWNER, [episode_id(1)], -1, key=write("r"), now=NOW)
        await store.add_accesses([AccessCount(owner=OWNER, episode_id=episode_id(2), count=1, last_time=NOW)])
        judged = await store.changes(OWNER, since=everything.revision, limit=10)
        assert (judged.columns.positions, judged.columns.feedbacks) == ([1], [-1])

        await store.reset_episodes(OWNER, kept_model="model-b", after=None, limit=10)
        gone = await store.changes(OWNER, since=judged.revision, limit=10)
        assert sorted(gone.columns.positions) == [1, 2]
        assert gone.searchable == [False, False]
        assert not judged.indexing_again
        assert gone.indexing_again

    async def test_changes_say_when_they_are_not_complete(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 6)))
        await activate(store)

        assert not (await store.changes(OWNER, since=0, limit=4)).is_complete
        assert (await store.changes(OWNER, since=0, limit=5)).is_complete

    async def test_changes_of_a_reader_that_knows_more_begin_anew(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await activate(store)

        changes = await store.changes(OWNER, since=1_000, limit=10)

        assert changes.begins_anew
        assert changes.columns.positions == [1]
        assert (await store.changes(SAME_NAME_ELSEWHERE, since=5, limit=10)).begins_anew

    async def test_concurrent_changes_of_one_owner_are_all_seen(self, store: EpisodeStore) -> None:
        await insert(store, *(new_episode(number) for number in range(1, 21)))
        await activate(store)
        seen: dict[int, int] = {}
        since = 0

        async def judge(number: int) -> None:
            await store.set_feedback(OWNER, [episode_id(number)], 1, key=write(f"r{number}"), now=NOW)

        judging = [asyncio.create_task(judge(number)) for number in range(1, 21)]
        while not all(task.done() for task in judging):
            changes = await store.changes(OWNER, since=since, limit=100)
            since = changes.revision
            seen.update(zip(changes.columns.positions, changes.columns.feedbacks, strict=True))
        changes = await store.changes(OWNER, since=since, limit=100)
        seen.update(zip(changes.columns.positions, changes.columns.feedbacks, strict=True))

        assert seen == dict.fromkeys(range(1, 21), 1)

    async def test_word_search_finds_shared_words_first(self, store: EpisodeStore) -> None:
        await insert(
            store,
            new_episode(1, query="we adopted a puppy named Rex"),
            new_episode(2, query="", response="puppies need a puppy school"),
            new_episode(3, query="nothing of the kind"),
        )
        await activate(store)

        columns, scores = await store.matching_columns(OWNER, "puppy & school | (", scope_keys=GLOBAL, limit=2)

        assert columns.positions == [2, 1]
        assert scores[0] > scores[1] > 0

    async def test_spec_2_7_feedback_is_set_once_per_request(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1), new_episode(2))
        asked = [episode_id(2), episode_id(9), episode_id(1)]

        first = await store.set_feedback(OWNER, asked, 1, key=write("r1"), now=NOW)
        await store.set_feedback(OWNER, [episode_id(1)], -1, key=write("r2"), now=NOW)
        again = await store.set_feedback(OWNER, asked, 1, key=write("r1"), now=NOW)

        assert first == again == [episode_id(2), episode_id(1)]
        stored = await store.get(OWNER, asked)
        assert stored[episode_id(1)].feedback == -1  # the repeat did not undo what came later
        assert stored[episode_id(2)].feedback == 1

    async def test_a_request_id_cannot_be_used_for_another_request(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        await store.set_feedback(OWNER, [episode_id(1)], 1, key=write("r1"), now=NOW)

        with pytest.raises(InvalidArgument) as caught:
            await store.set_feedback(OWNER, [episode_id(1)], -1, key=write("r1", "another"), now=NOW)

        assert caught.value.reason is Reason.REQUEST_ID_REUSED

    async def test_concurrent_repeats_of_a_request_agree(self, store: EpisodeStore) -> None:
        await insert(store, new_episode(1))
        answers = await asyncio.gather(
            *(store.set_feedback(OWNER, [episode_id(1)], 1, key=write("r1"), now=NOW) for _ in range(8))
        )

        assert answers == [[episode_id(1)]] * 8

    async def test_odd_names_are_only_names(self, store: EpisodeStore) -> None:
        owner = Owner(TenantId("o'brien\\"), UserId('" OR 1=1 --'))
        episode = new_episode(1, owner=owner, conversation_id="'; DROP TABLE x", speaker="{}", query="%s $1")
        await insert(store, episode)

        assert (await store.get(owner, [episode.episode_id]))[episode.episode_id].content == episode


def numbers(episodes: Sequence[object]) -> list[int]:
    return [episode.content.episode_id.int for episode in episodes]  # type: ignore[attr-defined]
