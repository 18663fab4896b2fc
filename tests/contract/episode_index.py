"""What every `EpisodeIndex` must do."""

import numpy as np
import pytest

from services.episodic.comparison_store import IndexedEpisode
from services.episodic.model import EpisodeKey, Owner, TenantId, UserId, episode_key
from services.episodic.store import EpisodeIndex, IndexedPiece, IndexQuery
from tests.contract.episode_samples import GLOBAL, OWNER, SAME_NAME_ELSEWHERE, TENANT, later
from tests.support.embedding import HashingEmbedder

EMBEDDER = HashingEmbedder(dimension=64)


def key_of(position: int, *, owner: Owner = OWNER, conversation_id: str = "s1") -> EpisodeKey:
    return episode_key(owner, conversation_id, position)


def piece(position: int, text: str, *, number: int = 0, owner: Owner = OWNER, scope_key: str = "1") -> IndexedPiece:
    return IndexedPiece(
        owner=owner,
        key=key_of(position, owner=owner),
        number=number,
        text=text,
        vector=EMBEDDER.vector(text),
        scope_key=scope_key,
        time=later(hours=position),
    )


def query(text: str, *, owner: Owner = OWNER, scope_keys: tuple[str, ...] = GLOBAL) -> IndexQuery:
    return IndexQuery(owner=owner, text=text, vector=EMBEDDER.vector(text), scope_keys=scope_keys)


def cosine(text: str, other: str) -> float:
    return float(np.dot(EMBEDDER.vector(text), EMBEDDER.vector(other)))


async def scanned(index: EpisodeIndex, *, limit: int) -> list[IndexedEpisode]:
    found: list[IndexedEpisode] = []
    while page := await index.scan(after=found[-1].key if found else None, limit=limit):
        found += page
    return found


class EpisodeIndexContract:
    """Subclass it with a fixture `index`, a fresh index of 64 dimensions."""

    async def test_an_empty_index_finds_nothing(self, index: EpisodeIndex) -> None:
        found = await index.search(query("anything"), limit=10)

        assert (dict(found.dense), dict(found.lexical)) == ({}, {})
        assert found.dense_complete
        assert found.lexical_complete
        scored = await index.score(query("anything"), dense=[key_of(1)], lexical=[key_of(1)])
        assert (dict(scored.dense), dict(scored.lexical)) == ({}, {})

    async def test_spec_8_2_an_index_that_is_there_passes_its_check(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, "two dogs")])
        await index.check()
        assert await index.count(OWNER) == 1

    async def test_dense_scores_are_cosines_best_first(self, index: EpisodeIndex) -> None:
        texts = {1: "we walked the dog", 2: "the dog barked", 3: "quarterly report"}
        await index.put([piece(position, text) for position, text in texts.items()])

        found = await index.search(query("the dog barked"), limit=10)

        assert list(found.dense) == [key_of(2), key_of(1), key_of(3)]
        for position, text in texts.items():
            assert found.dense[key_of(position)] == pytest.approx(cosine("the dog barked", text), abs=1e-5)

    async def test_lexical_hits_share_a_stem(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, "two dogs were walking"), piece(2, "the weather is nice")])

        found = await index.search(query("walk the dog"), limit=10)

        assert list(found.lexical) == [key_of(1)]
        assert found.lexical[key_of(1)] > 0

    async def test_spec_2_9_it_gives_the_vector_of_each_first_piece_back(self, index: EpisodeIndex) -> None:
        other = piece(1, "something of another tenant", owner=SAME_NAME_ELSEWHERE)
        await index.put([piece(1, "two dogs"), piece(1, "and a cat", number=1), piece(2, "the weather"), other])

        found = await index.vectors(OWNER, [key_of(1), key_of(2), key_of(3), other.key])

        assert set(found) == {key_of(1), key_of(2)}
        assert found[key_of(1)] == pytest.approx(EMBEDDER.vector("two dogs"), abs=1e-5)
        assert dict(await index.vectors(OWNER, [])) == {}

    async def test_a_rarer_word_weighs_more(self, index: EpisodeIndex) -> None:
        await index.put([piece(n, "coffee again") for n in range(1, 6)])
        await index.put([piece(6, "coffee harbour"), piece(7, "tea again")])

        found = await index.search(query("harbour tea coffee"), limit=10)

        assert set(list(found.lexical)[:2]) == {key_of(6), key_of(7)}

    async def test_an_episode_scores_as_its_best_piece(self, index: EpisodeIndex) -> None:
        await index.put(
            [
                piece(1, "something else entirely", number=0),
                piece(1, "my violin lesson", number=1),
                piece(2, "violin"),
            ]
        )

        found = await index.search(query("my violin lesson"), limit=10)

        assert list(found.dense) == [key_of(1), key_of(2)]
        assert found.dense[key_of(1)] == pytest.approx(1.0, abs=1e-5)

    async def test_many_pieces_of_one_episode_do_not_crowd_out_others(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, f"violin violin {n}", number=n) for n in range(40)])
        await index.put([piece(2, "violin and much besides, such as a house and a garden")])

        found = await index.search(query("violin"), limit=2)

        assert set(found.dense) == {key_of(1), key_of(2)}
        assert set(found.lexical) == {key_of(1), key_of(2)}

    async def test_limits_hold_and_completeness_is_told(self, index: EpisodeIndex) -> None:
        await index.put([piece(n, f"apple number {n}") for n in range(1, 31)])

        few = await index.search(query("apple"), limit=5)
        every = await index.search(query("apple"), limit=30)

        assert (len(few.dense), len(few.lexical)) == (5, 5)
        assert not few.dense_complete
        assert not few.lexical_complete
        assert (len(every.dense), len(every.lexical)) == (30, 30)
        assert every.dense_complete
        assert every.lexical_complete

    async def test_exact_scores_equal_those_of_the_lanes(self, index: EpisodeIndex) -> None:
        await index.put(
            [piece(n, f"apple {'pie ' * (n % 3)} number {n}", number=m) for n in range(1, 31) for m in (0, 1)]
        )
        keys = [key_of(n) for n in range(1, 31)]

        hits = await index.search(query("apple pie"), limit=30)
        exact = await index.score(query("apple pie"), dense=keys, lexical=keys)

        assert exact.dense == pytest.approx(dict(hits.dense))
        assert exact.lexical == pytest.approx(dict(hits.lexical))

    async def test_putting_a_piece_again_replaces_it(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, "apple")])
        await index.put([piece(1, "pear")])

        found = await index.search(query("apple"), limit=10)

        assert dict(found.lexical) == {}
        assert found.dense[key_of(1)] == pytest.approx(cosine("apple", "pear"), abs=1e-5)
        assert await index.count(OWNER) == 1

    async def test_removed_pieces_are_gone(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, "apple", number=n) for n in range(3)])
        await index.put([piece(2, "apple")])

        await index.remove(OWNER, [key_of(1), key_of(9)])

        assert set((await index.search(query("apple"), limit=10)).dense) == {key_of(2)}
        assert await index.count(OWNER) == 1

    async def test_spec_6_6_everything_of_an_owner_is_removed_at_once(self, index: EpisodeIndex) -> None:
        others = (SAME_NAME_ELSEWHERE, Owner(TENANT, UserId("bob")))
        for owner in (OWNER, *others):
            await index.put([piece(position, "apple", owner=owner) for position in range(20)])
            await index.search(query("apple", owner=owner), limit=5)

        await index.remove_owner(OWNER)

        assert (await index.count(OWNER), [await index.count(other) for other in others]) == (0, [20, 20])
        found = await index.search(query("apple"), limit=10)
        assert (dict(found.dense), dict(found.lexical)) == ({}, {})
        scored = await index.score(query("apple"), dense=[key_of(1)], lexical=[key_of(1)])
        assert (dict(scored.dense), dict(scored.lexical)) == ({}, {})

    async def test_spec_7_1_owners_never_see_each_other(self, index: EpisodeIndex) -> None:
        bob = Owner(TENANT, UserId("bob"))
        for owner in (OWNER, SAME_NAME_ELSEWHERE, bob):
            await index.put([piece(1, f"secret of {owner.key}", owner=owner)])

        for owner in (OWNER, SAME_NAME_ELSEWHERE, bob):
            found = await index.search(query("secret", owner=owner), limit=10)
            assert set(found.dense) == set(found.lexical) == {key_of(1, owner=owner)}
            others = [key_of(1, owner=other) for other in (OWNER, SAME_NAME_ELSEWHERE, bob) if other != owner]
            scored = await index.score(query("secret", owner=owner), dense=others, lexical=others)
            assert (dict(scored.dense), dict(scored.lexical)) == ({}, {})
        await index.remove(bob, [key_of(1)])
        assert await index.count(OWNER) == 1

    async def test_spec_5_4_other_users_texts_change_no_score(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, "harbour coffee"), piece(2, "coffee again"), piece(3, "again again")])
        before = await index.search(query("harbour coffee"), limit=10)

        neighbour = Owner(TENANT, UserId("bob"))
        await index.put([piece(n, "harbour harbour", owner=neighbour) for n in range(1, 51)])
        after = await index.search(query("harbour coffee"), limit=10)

        assert dict(after.lexical) == pytest.approx(dict(before.lexical))

    async def test_a_small_owner_beside_a_large_one_finds_everything(self, index: EpisodeIndex) -> None:
        large = Owner(TenantId("large"), UserId("u"))
        for start in range(0, 2_000, 250):
            await index.put([piece(start + n, f"garden {n}", owner=large) for n in range(250)])
        await index.put([piece(n, f"garden shed {n}") for n in range(20)])

        found = await index.search(query("garden shed"), limit=100)

        assert len(found.dense) == len(found.lexical) == 20
        assert found.dense_complete

    async def test_spec_5_3_only_visible_scopes_are_found(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, "plan"), piece(2, "plan", scope_key="2\x1fp"), piece(3, "plan", scope_key="2\x1fq")])

        project = await index.search(query("plan", scope_keys=("1", "2\x1fp")), limit=10)
        hidden = await index.score(query("plan"), dense=[key_of(2)], lexical=[key_of(2)])

        assert set(project.dense) == set(project.lexical) == {key_of(1), key_of(2)}
        assert (dict(hidden.dense), dict(hidden.lexical)) == ({}, {})

    async def test_a_query_without_words_has_no_lexical_lane(self, index: EpisodeIndex) -> None:
        await index.put([piece(1, "the of and")])

        for text in ("", "the", "?!", "…"):
            found = await index.search(query(text), limit=10)
            assert dict(found.lexical) == {}
            assert set(found.dense) == {key_of(1)}

    async def test_equal_scores_come_in_the_order_of_keys(self, index: EpisodeIndex) -> None:
        await index.put([piece(n, "the same words") for n in (5, 3, 9, 1, 7)])

        found = await index.search(query("same words"), limit=10)

        assert list(found.dense) == list(found.lexical) == [key_of(n) for n in (1, 3, 5, 7, 9)]

    async def test_an_empty_index_has_nothing_to_scan(self, index: EpisodeIndex) -> None:
        assert await index.scan(after=None, limit=10) == []
        assert await index.scan(after=EpisodeKey(2**112 - 1), limit=10) == []

    @pytest.mark.parametrize("limit", [1, 2, 7, 1_000])
    async def test_spec_2_11_a_scan_tells_every_episode_once_by_key_with_all_its_pieces(
        self, index: EpisodeIndex, limit: int
    ) -> None:
        owners = (OWNER, SAME_NAME_ELSEWHERE, Owner(TENANT, UserId("bob")))
        counts = {(owner, position): 1 + position % 5 for owner in owners for position in range(6)}
        counts[OWNER, 9] = 60  # more than a page, and than a server may allow in one call
        for (owner, position), count in counts.items():
            await index.put([piece(position, "apple", number=n, owner=owner) for n in range(count)])
        await index.remove(OWNER, [key_of(3)])

        found = await scanned(index, limit=limit)

        expected = [
            IndexedEpisode(owner=owner, key=key_of(position, owner=owner), piece_count=count)
            for (owner, position), count in counts.items()
            if (owner, position) != (OWNER, 3)
        ]
        assert found == sorted(expected, key=lambda episode: episode.key)

    async def test_a_scan_goes_on_behind_a_key_that_is_gone(self, index: EpisodeIndex) -> None:
        await index.put([piece(n, "apple") for n in range(4)])
        (first,) = await index.scan(after=None, limit=1)
        await index.remove(OWNER, [key_of(0), key_of(1)])

        assert [episode.key for episode in await index.scan(after=first.key, limit=10)] == [key_of(2), key_of(3)]
