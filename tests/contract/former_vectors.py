"""What every store of vectors must do for a change of the embedding model, and the job above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

import pytest

from services.agentic.former_vectors import NoteVectors
from services.agentic.model import Note, NoteStatus
from services.agentic.store import NoteSearch, NoteStore, WalkSettings
from services.common.embedding.vectors import Matrix
from services.common.errors import FailedPrecondition, StoreUnavailable
from services.common.model_change import (
    EmbeddedText,
    FormerVectors,
    FormerVectorStore,
    ModelChangeSettings,
    ReembedRows,
    SecondVectors,
    drop_former_vectors,
)
from services.common.owners import Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.semantic.facts.store import FactChange, FactSearch, FactStore
from tests.contract import fact_samples
from tests.contract.note_samples import make_note
from tests.support.embedding import HashingEmbedder

ANN = Owner(TenantId("acme"), UserId("ann"))
BOB = Owner(TenantId("acme"), UserId("bob"))
ELSEWHERE = Owner(TenantId("globex"), UserId("ann"))
FORMER = HashingEmbedder(64, "former")
PRESENT = HashingEmbedder(32, "present")
OLDEST = HashingEmbedder(16, "oldest")
TEXTS = (
    "Ann likes green tea",
    "Ann lives in Oslo",
    "Ann has twelve chairs",
    "Ann plays the cello",
    "Ann fears spiders",
)
SETTINGS = ModelChangeSettings(batch_max=2, owners_page=1)


class Rows(Protocol):
    """Facts or notes."""

    @property
    def vectors(self) -> FormerVectorStore: ...

    async def add(self, owner: Owner, texts: Sequence[str], embedder: HashingEmbedder) -> None: ...

    async def found(self, owner: Owner, text: str, embedder: HashingEmbedder) -> list[str]: ...

    async def rewrite(self, owner: Owner, text: str, new: str, embedder: HashingEmbedder) -> None: ...

    async def archive(self, owner: Owner, text: str) -> None: ...

    async def restore(self, owner: Owner, text: str) -> None: ...


class FactRows:
    def __init__(self, store: FactStore, vectors: FormerVectorStore) -> None:
        self.store, self.vectors = store, vectors
        self.made: dict[tuple[Owner, str], FactChange] = {}

    async def add(self, owner: Owner, texts: Sequence[str], embedder: HashingEmbedder) -> None:
        for text in texts:
            made = fact_samples.made_fact(owner, embedder.vector(text), model=embedder.fingerprint)
            change = replace(made, fact=replace(made.fact, text=text))
            self.made[owner, text] = change
            await fact_samples.put(self.store, owner, [change])

    async def found(self, owner: Owner, text: str, embedder: HashingEmbedder) -> list[str]:
        vector, model = embedder.vector(text), embedder.fingerprint
        search = FactSearch(vector, model, GLOBAL_SCOPE, 100, 0.0, includes_threshold=True)
        return [hit.fact.text for hit in await self.store.search(owner, search)]

    async def rewrite(self, owner: Owner, text: str, new: str, embedder: HashingEmbedder) -> None:
        before, model = self.made.pop((owner, text)), embedder.fingerprint
        change = fact_samples.changed(before, embedder.vector(new), model=model, text=new)
        self.made[owner, new] = change
        await fact_samples.put(self.store, owner, [change])

    async def archive(self, owner: Owner, text: str) -> None:
        assert await self.store.archive(owner, [self.made[owner, text].fact.fact_id]) == 1

    async def restore(self, owner: Owner, text: str) -> None:
        assert await self.store.restore(owner, [self.made[owner, text].fact.fact_id]) == 1


class NoteRows:
    def __init__(self, store: NoteStore) -> None:
        self.store, self.vectors = store, NoteVectors(store, captions_max=4)
        self.made: dict[tuple[Owner, str], Note] = {}

    async def add(self, owner: Owner, texts: Sequence[str], embedder: HashingEmbedder) -> None:
        start = len(self.made) + 1
        notes = [replace(make_note(start + n, owner), content=text) for n, text in enumerate(texts)]
        self.made |= {(owner, note.content): note for note in notes}
        vectors, model = await embedder.embed_documents(texts), embedder.fingerprint
        await self.store.write(owner, lambda writer: writer.add_notes(notes, vectors, model=model))

    async def found(self, owner: Owner, text: str, embedder: HashingEmbedder) -> list[str]:
        search = NoteSearch(embedder.vector(text), embedder.fingerprint, GLOBAL_SCOPE, 100, 0, WalkSettings())
        return [hit.note.content for hit in await self.store.search(owner, search)]

    async def rewrite(self, owner: Owner, text: str, new: str, embedder: HashingEmbedder) -> None:
        note = replace(self.made.pop((owner, text)), content=new)
        self.made[owner, new] = note
        vectors, model = await embedder.embed_documents([new]), embedder.fingerprint
        await self.store.write(owner, lambda writer: writer.update_notes([note]))
        await self.store.write(owner, lambda writer: writer.replace_vectors([note.note_id], vectors, model=model))

    async def archive(self, owner: Owner, text: str) -> None:
        await self._set_status(owner, text, NoteStatus.ARCHIVED)

    async def restore(self, owner: Owner, text: str) -> None:
        await self._set_status(owner, text, NoteStatus.ACTIVE)

    async def _set_status(self, owner: Owner, text: str, status: NoteStatus) -> None:
        ids, now = [self.made[owner, text].note_id], datetime(2026, 2, 1, tzinfo=UTC)
        await self.store.write(owner, lambda writer: writer.set_status(ids, status, update_time=now))


def fill(rows: Rows, store: FormerVectorStore | None = None) -> ReembedRows:
    """The vectors of the present model, beside those of the former one, which serves."""
    chosen = store or rows.vectors
    return ReembedRows("test.fill", chosen, TierEmbedder(PRESENT), SETTINGS, beside=TierEmbedder(FORMER))


def needs_two(rows: Rows) -> None:
    if not rows.vectors.keeps_two:
        pytest.skip("the driver keeps one vector of a row, as it declares")


def job(rows: Rows, store: FormerVectorStore | None = None) -> ReembedRows:
    return ReembedRows("test.reembed", store or rows.vectors, TierEmbedder(PRESENT), SETTINGS)


async def run(chosen: ReembedRows, *, after: str = "", owner: Owner | None = None) -> tuple[int, str]:
    """Runs the steps behind a cursor; returns the changes made, and the cursor behind the last step."""
    made = 0
    async for step in chosen.steps(after=after, owner=owner):
        made += len(await chosen.apply(step.owner, chosen.plan(step.state, datetime.now(UTC))))
        after = step.cursor
    return made, after


class FormerVectorsContract:
    """Subclass it with a fixture `rows` of a fresh store."""

    async def test_spec_8_4_what_is_of_the_former_model_is_embedded_anew_and_found_again(self, rows: Rows) -> None:
        for owner in (ANN, BOB, ELSEWHERE):
            await rows.add(owner, TEXTS, FORMER)
        assert await rows.found(ANN, TEXTS[0], PRESENT) == []

        assert (await run(job(rows)))[0] == 15

        for owner in (ANN, BOB, ELSEWHERE):
            for text in TEXTS:
                assert (await rows.found(owner, text, PRESENT))[0] == text
            assert sorted(await rows.found(owner, TEXTS[0], PRESENT)) == sorted(TEXTS)
            assert await rows.found(owner, TEXTS[0], FORMER) == []
        assert (await run(job(rows)))[0] == 0

    async def test_spec_8_4_the_newest_come_first_and_new_ones_are_left_alone(self, rows: Rows) -> None:
        await rows.add(ANN, TEXTS[:3], FORMER)
        await rows.add(ANN, TEXTS[3:], PRESENT)
        steps = job(rows).steps(after="", owner=None)
        first = await anext(steps)
        await steps.aclose()  # type: ignore[attr-defined]
        texts = {each.row_id: each.text for each in await rows.vectors.texts(ANN, first.state)}
        assert [texts[row_id] for row_id in first.state] == [TEXTS[2], TEXTS[1]]
        assert await rows.found(ANN, TEXTS[4], PRESENT) == [TEXTS[4], TEXTS[3]]
        assert (await run(job(rows)))[0] == 3

    async def test_spec_8_4_the_way_back_is_the_same(self, rows: Rows) -> None:
        await rows.add(ANN, TEXTS, FORMER)
        await run(job(rows))
        back = ReembedRows("test.reembed", rows.vectors, TierEmbedder(FORMER), SETTINGS)
        assert (await run(back))[0] == len(TEXTS)
        assert (await rows.found(ANN, TEXTS[1], FORMER))[0] == TEXTS[1]
        assert await rows.found(ANN, TEXTS[1], PRESENT) == []

    async def test_spec_8_4_a_run_that_stopped_goes_on_behind_its_last_step(self, rows: Rows) -> None:
        await rows.add(ANN, TEXTS, FORMER)
        await rows.add(BOB, TEXTS, FORMER)
        breaking = job(rows, _Breaking(rows.vectors, writes=2))
        cursor = made = ""
        with pytest.raises(StoreUnavailable):
            async for step in breaking.steps(after="", owner=None):
                await breaking.apply(step.owner, breaking.plan(step.state, datetime.now(UTC)))
                cursor, made = step.cursor, made + "x"
        assert made == "xx"
        assert len(await rows.found(ANN, TEXTS[0], PRESENT)) == 4
        assert (await run(job(rows), after=cursor))[0] == 6
        assert (await run(job(rows)))[0] == 0
        assert len(await rows.found(BOB, TEXTS[0], PRESENT)) == len(TEXTS)

    async def test_spec_8_4_a_text_that_is_written_meanwhile_has_the_vector_of_what_it_says(self, rows: Rows) -> None:
        await rows.add(ANN, TEXTS[:2], FORMER)
        ids = await rows.vectors.former(ANN, model=PRESENT.fingerprint, before="", limit=9)
        read = await rows.vectors.texts(ANN, ids)
        vectors: Matrix = await PRESENT.embed_documents([each.text for each in read])
        await rows.rewrite(ANN, TEXTS[0], "Ann cannot stand green tea", PRESENT)

        made = await rows.vectors.replace(ANN, read, vectors, model=PRESENT.fingerprint)

        assert made == {each.row_id for each in read if each.text == TEXTS[1]}
        nearest = await rows.found(ANN, "Ann cannot stand green tea", PRESENT)
        assert nearest[0] == "Ann cannot stand green tea"
        assert not await rows.vectors.lacks(ANN, model=PRESENT.fingerprint)

    async def test_spec_8_4_what_is_archived_comes_over_too_but_makes_no_search_incomplete(self, rows: Rows) -> None:
        await rows.add(ANN, TEXTS[:1], FORMER)
        await rows.archive(ANN, TEXTS[0])
        assert not await rows.vectors.lacks(ANN, model=PRESENT.fingerprint)
        assert (await run(job(rows)))[0] == 1
        assert await rows.found(ANN, TEXTS[0], PRESENT) == []
        await rows.restore(ANN, TEXTS[0])
        assert await rows.found(ANN, TEXTS[0], PRESENT) == [TEXTS[0]]

    async def test_spec_8_4_a_run_for_one_user_leaves_the_others(self, rows: Rows) -> None:
        for owner in (ANN, BOB, ELSEWHERE):
            await rows.add(owner, TEXTS[:3], FORMER)
        assert (await run(job(rows), owner=BOB))[0] == 3
        model = PRESENT.fingerprint
        assert await rows.vectors.owners(model=model, after=None, limit=9) == [ANN, ELSEWHERE]
        assert await rows.vectors.owners(model=model, after=ANN, limit=9) == [ELSEWHERE]
        assert await rows.vectors.owners(model=model, after=None, limit=1) == [ANN]
        assert await rows.vectors.owners(model=FORMER.fingerprint, after=None, limit=9) == [BOB]

    async def test_spec_8_4_each_users_searches_are_incomplete_until_theirs_are_done(self, rows: Rows) -> None:
        await rows.add(ANN, TEXTS, FORMER)
        await rows.add(BOB, TEXTS, FORMER)
        former = FormerVectors(rows.vectors, PRESENT.fingerprint, SETTINGS)
        assert [await former.lacks(owner) for owner in (ANN, BOB, ELSEWHERE)] == [True, True, False]
        await run(job(rows), owner=ANN)
        assert [await former.lacks(owner) for owner in (ANN, BOB)] == [False, True]
        assert await former.look()
        await run(job(rows))
        assert not await former.look()
        assert [await former.lacks(owner) for owner in (ANN, BOB)] == [False, False]

    async def test_spec_8_4_a_second_models_vectors_stand_beside_the_first_ones(self, rows: Rows) -> None:
        needs_two(rows)
        for owner in (ANN, BOB, ELSEWHERE):
            await rows.add(owner, TEXTS, FORMER)
        assert (await run(fill(rows)))[0] == 15
        assert (await run(fill(rows)))[0] == 0
        for embedder in (FORMER, PRESENT, FORMER):
            for owner in (ANN, BOB, ELSEWHERE):
                assert not await rows.vectors.lacks(owner, model=embedder.fingerprint)
                for text in TEXTS:
                    assert (await rows.found(owner, text, embedder))[0] == text
                assert sorted(await rows.found(owner, TEXTS[0], embedder)) == sorted(TEXTS)

    async def test_spec_8_4_what_lacks_a_model_is_counted(self, rows: Rows) -> None:
        await rows.add(ANN, TEXTS[:2], FORMER)
        await rows.add(ELSEWHERE, TEXTS[:1], FORMER)
        await rows.add(ANN, TEXTS[2:4], PRESENT)
        model = PRESENT.fingerprint
        assert await rows.vectors.count(model=model, limit=100) == 3
        assert await rows.vectors.count(model=model, limit=2) == 2
        assert await rows.vectors.count(model=FORMER.fingerprint, limit=100) == 2
        await run(job(rows), owner=ANN)
        assert await rows.vectors.count(model=model, limit=100) == 1

    async def test_spec_8_4_a_fill_that_stopped_goes_on_behind_its_last_step(self, rows: Rows) -> None:
        needs_two(rows)
        await rows.add(ANN, TEXTS, FORMER)
        await rows.add(BOB, TEXTS, FORMER)
        breaking, cursor = fill(rows, _Breaking(rows.vectors, writes=2)), ""
        with pytest.raises(StoreUnavailable):
            async for step in breaking.steps(after="", owner=None):
                await breaking.apply(step.owner, breaking.plan(step.state, datetime.now(UTC)))
                cursor = step.cursor
        assert len(await rows.found(ANN, TEXTS[0], PRESENT)) == 4
        assert len(await rows.found(ANN, TEXTS[0], FORMER)) == len(TEXTS)
        assert (await run(fill(rows), after=cursor))[0] == 6
        # Of the way back: there is nothing to do, and a run of the other model does not begin in the middle.
        await rows.add(ANN, ["Ann has a boat"], PRESENT)
        back = ReembedRows("test.fill", rows.vectors, TierEmbedder(FORMER), SETTINGS, beside=TierEmbedder(PRESENT))
        assert (await run(back, after=cursor))[0] == 1
        assert (await rows.found(ANN, "Ann has a boat", FORMER))[0] == "Ann has a boat"
        assert (await rows.found(ANN, "Ann has a boat", PRESENT))[0] == "Ann has a boat"

    async def test_spec_8_4_another_text_takes_the_second_vector_away(self, rows: Rows) -> None:
        needs_two(rows)
        await rows.add(ANN, TEXTS[:2], FORMER)
        await run(fill(rows))
        new = "Ann cannot stand green tea"
        await rows.rewrite(ANN, TEXTS[0], new, FORMER)
        assert await rows.vectors.lacks(ANN, model=PRESENT.fingerprint)
        assert await rows.found(ANN, new, PRESENT) == [TEXTS[1]]
        assert (await run(fill(rows)))[0] == 1
        for embedder in (FORMER, PRESENT):
            assert await rows.found(ANN, new, embedder) == [new, TEXTS[1]]

    async def test_spec_8_4_a_text_that_is_written_meanwhile_gets_no_second_vector_of_the_former_words(
        self, rows: Rows
    ) -> None:
        needs_two(rows)
        await rows.add(ANN, TEXTS[:1], FORMER)
        ids = await rows.vectors.former(ANN, model=PRESENT.fingerprint, before="", limit=9)
        read = await rows.vectors.texts(ANN, ids)
        await rows.rewrite(ANN, TEXTS[0], "Ann cannot stand green tea", FORMER)
        vectors = await PRESENT.embed_documents([each.text for each in read])
        model, beside = PRESENT.fingerprint, FORMER.fingerprint
        assert await rows.vectors.replace(ANN, read, vectors, model=model, beside=beside) == set()
        assert await rows.vectors.lacks(ANN, model=model)

    async def test_spec_8_4_archived_rows_have_both_vectors_when_they_come_back(self, rows: Rows) -> None:
        needs_two(rows)
        await rows.add(ANN, TEXTS[:2], FORMER)
        await rows.archive(ANN, TEXTS[0])
        assert (await run(fill(rows)))[0] == 2
        await rows.archive(ANN, TEXTS[1])
        for embedder in (FORMER, PRESENT):
            assert await rows.found(ANN, TEXTS[0], embedder) == []
        await rows.restore(ANN, TEXTS[0])
        for embedder in (FORMER, PRESENT):
            assert await rows.found(ANN, TEXTS[0], embedder) == [TEXTS[0]]

    async def test_spec_8_4_the_vectors_of_former_models_are_removed(self, rows: Rows) -> None:
        needs_two(rows)
        for owner in (ANN, BOB, ELSEWHERE):
            await rows.add(owner, TEXTS[:2], FORMER)
        await run(fill(rows), owner=ANN)
        await run(fill(rows), owner=ELSEWHERE)
        await rows.add(ELSEWHERE, TEXTS[2:3], PRESENT)
        back = ReembedRows("test.fill", rows.vectors, TierEmbedder(FORMER), SETTINGS, beside=TierEmbedder(PRESENT))
        await run(back)
        model = PRESENT.fingerprint
        assert await rows.vectors.owners_with_others(model=model, after=None, limit=9) == [ANN, ELSEWHERE]
        assert await rows.vectors.owners_with_others(model=model, after=ANN, limit=9) == [ELSEWHERE]

        assert await drop_former_vectors(rows.vectors, model=model) == 5
        assert await drop_former_vectors(rows.vectors, model=model) == 0

        assert await rows.found(ANN, TEXTS[0], FORMER) == []
        assert await rows.found(ELSEWHERE, TEXTS[0], FORMER) == []
        assert sorted(await rows.found(ELSEWHERE, TEXTS[0], PRESENT)) == sorted(TEXTS[:3])
        # One that has no other vector keeps it, until it is embedded anew.
        assert sorted(await rows.found(BOB, TEXTS[0], FORMER)) == sorted(TEXTS[:2])
        assert (await run(job(rows)))[0] == 2

    async def test_spec_8_4_a_third_model_takes_the_place_of_the_one_that_is_not_held(self, rows: Rows) -> None:
        needs_two(rows)
        await rows.add(ANN, TEXTS, OLDEST)
        await run(fill(rows))
        assert sorted(await rows.found(ANN, TEXTS[0], PRESENT)) == sorted(TEXTS)
        assert await rows.found(ANN, TEXTS[0], OLDEST) == []
        both = ReembedRows("test.fill", rows.vectors, TierEmbedder(FORMER), SETTINGS, beside=TierEmbedder(PRESENT))
        assert (await run(both))[0] == len(TEXTS)
        assert sorted(await rows.found(ANN, TEXTS[0], PRESENT)) == sorted(TEXTS)
        assert sorted(await rows.found(ANN, TEXTS[0], FORMER)) == sorted(TEXTS)

    async def test_spec_8_4_the_check_before_a_cut_over_embeds_the_last_ones_and_counts_many(self, rows: Rows) -> None:
        first, second = TierEmbedder(FORMER), TierEmbedder(PRESENT)
        await rows.add(ANN, TEXTS, FORMER)
        patient = replace(SETTINGS, last_rows_max=4)
        many = await SecondVectors("test.fill", rows.vectors, first, second, patient).count_lacking(second.model_id)
        assert many == (len(TEXTS) if rows.vectors.keeps_two else 0)
        beside = SecondVectors("test.fill", rows.vectors, first, second, replace(SETTINGS, last_rows_max=5))
        assert await beside.count_lacking(first.model_id) == 0
        assert await beside.count_lacking(second.model_id) == 0
        assert len(await rows.found(ANN, TEXTS[0], PRESENT)) == (len(TEXTS) if rows.vectors.keeps_two else 0)
        assert len(await rows.found(ANN, TEXTS[0], FORMER)) == len(TEXTS)
        with pytest.raises(FailedPrecondition, match="does not hold"):
            await beside.count_lacking("another")
        alone = SecondVectors("test.fill", rows.vectors, first, None, SETTINGS)
        assert alone.fill is None
        with pytest.raises(FailedPrecondition, match="does not hold"):
            await alone.count_lacking(second.model_id)


class _Breaking:
    """A store that is gone after some writes."""

    def __init__(self, store: FormerVectorStore, *, writes: int) -> None:
        self._store, self._writes = store, writes
        self.owners, self.lacks, self.former, self.texts = store.owners, store.lacks, store.former, store.texts
        self.count, self.keeps_two = store.count, store.keeps_two
        self.owners_with_others, self.drop_others = store.owners_with_others, store.drop_others

    async def replace(
        self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str, beside: str = ""
    ) -> set[str]:
        self._writes -= 1
        if self._writes < 0:
            raise StoreUnavailable("postgres", 1.0)
        return await self._store.replace(owner, texts, vectors, model=model, beside=beside)
