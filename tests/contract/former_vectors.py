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
from services.common.errors import StoreUnavailable
from services.common.model_change import (
    EmbeddedText,
    FormerVectors,
    FormerVectorStore,
    ModelChangeSettings,
    ReembedRows,
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


class _Breaking:
    """A store that is gone after some writes."""

    def __init__(self, store: FormerVectorStore, *, writes: int) -> None:
        self._store, self._writes = store, writes
        self.owners, self.lacks, self.former, self.texts = store.owners, store.lacks, store.former, store.texts

    async def replace(self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str) -> set[str]:
        self._writes -= 1
        if self._writes < 0:
            raise StoreUnavailable("postgres", 1.0)
        return await self._store.replace(owner, texts, vectors, model=model)
