"""What every store of the activity log must do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import numpy as np
import pytest

from services.common.errors import InvalidArgument
from services.common.idempotency.model import Idempotency, IdempotencyKey, IdempotencyRecords
from services.common.scope import Scope
from services.episodic.activity.model import (
    ContextSnapshot,
    FileOperation,
    Learning,
    LearningKind,
    Pattern,
    PatternKind,
    SnapshotItem,
    Stored,
    TaskStatus,
)
from services.episodic.activity.store import ActivityStore, ActivityUpkeepStore, Position, RecordFilter, Removal
from tests.contract.activity_samples import ADA, BEN, GLOBAL, NOON, OTHER, PROJECT, at, ran, record, state, touched

EVERYWHERE = (GLOBAL, PROJECT)
SEEN = RecordFilter(scope_keys=EVERYWHERE)
ONCE = Idempotency(Stored, retention_seconds=1_000.0)
SNAPSHOT = ContextSnapshot(
    items=(SnapshotItem(item_id="i1", kind="tool_result", token_count=7, relevance=0.5, is_pruned=True, score=12.5),),
    total_tokens=100,
    reason="pruning",
)
LEARNED = Learning(kind=LearningKind.FILE_PURPOSE, text="Routes requests.", path="app.py", confidence=0.75)


def pattern(number: int, *, observed: int = 3, paths: tuple[str, ...] = ("a.py", "b.py")) -> Pattern:
    return Pattern(
        pattern_id=f"00000000-0000-0000-0000-00000000000{number}",
        kind=PatternKind.CO_EDIT,
        scope_key=GLOBAL,
        paths=paths,
        observed_count=observed,
        contrary_count=1,
        first_time=NOON,
        last_time=at(9),
    )


class ActivityStoreContract:
    """Subclassed for each driver, with fixtures `store` and `upkeep` that return empty ones of one database."""

    async def test_spec_2_10_every_kind_of_record_is_read_as_it_was_written(self, store: ActivityStore) -> None:
        written = [
            record("t", replace(ran("bash", microseconds=5), parameters="{}", context_tokens=9), task_id="k"),
            record("f", touched("a.py", reason="why", changes_summary="what"), scope_key=PROJECT),
            record("s", SNAPSHOT),
            record("l", LEARNED),
        ]
        assert await store.write(ADA, written) == Stored(4, 0)
        assert await store.list_tools(ADA, SEEN, after=None, limit=9) == written[:1]
        assert await store.list_files(ADA, SEEN, after=None, limit=9) == written[1:2]
        assert await store.list_snapshots(ADA, SEEN, after=None, limit=9) == written[2:3]
        assert await store.list_learnings(ADA, SEEN, after=None, limit=9) == written[3:]

    async def test_spec_2_10_a_known_id_changes_nothing_at_any_time(self, store: ActivityStore) -> None:
        first = record("1", ran("bash"))
        assert await store.write(ADA, [first, record("1", ran("other"), minutes=1)]) == Stored(1, 1)
        months_later = record("1", ran("later"), minutes=60 * 24 * 70)
        assert await store.write(ADA, [months_later, record("2", ran("bash"))]) == Stored(1, 1)
        found = await store.list_tools(ADA, SEEN, after=None, limit=9)
        assert [one.record_id for one in found] == ["2", "1"]
        assert found[1] == first
        # Ids are of one kind and one user.
        assert await store.write(ADA, [record("1", touched("a.py"))]) == Stored(1, 0)
        assert await store.write(BEN, [first]) == Stored(1, 0)

    async def test_overlapping_writers_store_a_record_once(self, store: ActivityStore) -> None:
        batch = [record(str(number), ran("bash"), minutes=number) for number in range(20)]
        results = await asyncio.gather(*(store.write(ADA, batch) for _ in range(4)))
        assert sum(result.stored_count for result in results) == 20
        assert len(await store.list_tools(ADA, SEEN, after=None, limit=99)) == 20

    async def test_a_request_runs_once(self, store: ActivityStore) -> None:
        def once(request_id: str) -> Callable[[IdempotencyRecords, Callable[[], Awaitable[Stored]]], Awaitable[Stored]]:
            key = IdempotencyKey("p", request_id, "d")
            return lambda records, work: ONCE.run(
                records, key, work, now=NOON, user_id=ADA.user_id, resource_id=lambda _: "activity"
            )

        batch = [record("1", ran("bash"))]
        assert await store.write(ADA, batch, once("r1")) == Stored(1, 0)
        assert await store.write(ADA, batch, once("r1")) == Stored(1, 0)
        assert await store.write(ADA, batch, once("r2")) == Stored(0, 1)

    async def test_pages_are_newest_first_and_the_id_breaks_ties(self, store: ActivityStore) -> None:
        await store.write(
            ADA, [record(name, touched("a.py"), minutes=number // 2) for number, name in enumerate("abcd")]
        )
        first = await store.list_files(ADA, SEEN, after=None, limit=3)
        assert [one.record_id for one in first] == ["d", "c", "b"]
        await store.write(ADA, [record("e", touched("a.py"), minutes=9)])
        behind = Position(first[-1].time, first[-1].record_id)
        assert [one.record_id for one in await store.list_files(ADA, SEEN, after=behind, limit=3)] == ["a"]

    async def test_lists_hold_what_their_filter_says(self, store: ActivityStore) -> None:
        await store.write(
            ADA,
            [
                record("1", touched("src/a.py", FileOperation.READ), task_id="k"),
                record("2", touched("src/b_c.py"), conversation_id="c2"),
                record("3", touched("src/bXc.py"), scope_key=PROJECT),
                record("4", ran("bash", success=False), task_id="k"),
                record("5", ran("grep")),
                record("6", LEARNED),
            ],
        )

        async def files(**fields: object) -> set[str]:
            query = replace(SEEN, **fields)  # type: ignore[arg-type]
            return {one.record_id for one in await store.list_files(ADA, query, after=None, limit=9)}

        assert await files(scope_keys=[GLOBAL]) == {"1", "2"}
        assert await files(path="src/a.py") == {"1"}
        assert await files(path="src/a.py", operation=FileOperation.EDIT) == set()
        assert await files(path_prefix="src/b_") == {"2"}
        assert await files(conversation_id="c2") == {"2"}
        assert await files(task_id="k") == {"1"}
        assert await files(operation=FileOperation.EDIT) == {"2", "3"}
        failed = await store.list_tools(ADA, replace(SEEN, success=False), after=None, limit=9)
        assert [one.record_id for one in failed] == ["4"]
        assert len(await store.list_tools(ADA, replace(SEEN, tool_name="grep"), after=None, limit=9)) == 1
        for fields, count in (({"learning_kind": LearningKind.WORKFLOW}, 0), ({"confidence_min": 0.75}, 1)):
            found = await store.list_learnings(ADA, replace(SEEN, **fields), after=None, limit=9)
            assert len(found) == count

    async def test_spec_2_10_a_file_has_a_history(self, store: ActivityStore) -> None:
        nothing = await store.file_history(ADA, "a.py", scope_keys=EVERYWHERE, tasks_max=9, recent_max=9)
        assert (nothing.count, nothing.last_time) == (0, None)
        await store.write(
            ADA,
            [
                record("1", touched("a.py", FileOperation.READ), task_id="k1"),
                record("2", touched("a.py"), task_id="k2", minutes=1),
                record("3", touched("a.py"), task_id="k1", minutes=2),
                record("4", touched("a.py"), task_id="k3", minutes=3, scope_key=PROJECT),
                record("5", touched("b.py"), minutes=4),
            ],
        )
        history = await store.file_history(ADA, "a.py", scope_keys=[GLOBAL], tasks_max=1, recent_max=2)
        assert [(one.operation, one.count) for one in history.operations] == [
            (FileOperation.READ, 1),
            (FileOperation.EDIT, 2),
        ]
        assert (history.count, history.first_time, history.last_time) == (3, NOON, at(2))
        assert history.task_ids == ("k1",)
        assert [one.record_id for one in history.recent] == ["3", "2"]

    async def test_the_version_of_a_log_changes_with_each_write_and_removal(self, store: ActivityStore) -> None:
        assert await store.version(ADA) == ""
        versions = set()
        for minute in range(2):  # after an erasure the log begins anew, and yet has another version
            await store.write(ADA, [record("1", ran("x"), minutes=minute)])
            versions.add(await store.version(ADA))
            await store.write(ADA, [record("2", ran("x"), minutes=minute)])
            versions.add(await store.version(ADA))
            await store.remove(ADA, Removal(conversation_id="c1"), now=NOON)
            versions.add(await store.version(ADA))
            await store.remove(ADA, Removal(), now=NOON)
            assert await store.version(ADA) == ""
        assert len(versions) == 6
        assert await store.version(BEN) == ""

    async def test_edits_are_the_successful_ones_within_tasks(self, store: ActivityStore) -> None:
        await store.write(
            ADA,
            [
                record("1", touched("a.py"), task_id="k1"),
                record("2", touched("b.py"), task_id="k1", minutes=1),
                record("3", touched("c.py"), task_id="k2", minutes=2),
                record("4", touched("d.py")),
                record("5", touched("e.py", FileOperation.READ), task_id="k1"),
                record("6", touched("f.py", success=False), task_id="k1"),
            ],
        )

        async def paths(path: str = "", minutes: float = 0.0, limit: int = 9) -> list[str]:
            found = await store.edits(ADA, scope_keys=EVERYWHERE, since=at(minutes), path=path, limit=limit)
            return [edit.path for edit in found]

        assert await paths() == ["c.py", "b.py", "a.py"]
        assert await paths("a.py") == ["b.py", "a.py"]
        assert await paths(minutes=1) == ["c.py", "b.py"]
        assert await paths(limit=1) == ["c.py"]

    async def test_a_search_finds_texts_literally_whatever_their_case(self, store: ActivityStore) -> None:
        await store.write(
            ADA,
            [
                record("1", touched("src/Auth_login.py"), task_id="k"),
                record("2", touched("src/authXlogin.py", reason="For 100%"), minutes=1),
                record("3", replace(ran("bash"), parameters="pytest tests/auth"), minutes=2, task_id="k"),
            ],
        )

        async def found(*texts: str, limit: int = 9) -> list[str]:
            hits = await store.search(ADA, texts, scope_keys=EVERYWHERE, searched_max=99, limit=limit)
            return [one.record_id for one in hits]

        assert await found("auth") == ["3", "2", "1"]
        assert await found("auth", limit=1) == ["3"]
        assert await found("auth_LOGIN") == ["1"]
        assert await found("100%") == ["2"]
        assert await found("\\") == []
        of_task = await store.of_tasks(ADA, ["k", ""], scope_keys=EVERYWHERE, limit=9)
        assert [one.record_id for one in of_task] == ["3", "1"]

    async def test_spec_2_10_tools_have_success_and_duration(self, store: ActivityStore) -> None:
        await store.write(
            ADA,
            [
                *(record(f"b{n}", ran("bash", success=n > 0, microseconds=n * 10), minutes=n) for n in range(4)),
                record("g", ran("grep")),
                record("old", ran("old"), minutes=-10),
            ],
        )
        bash, grep = await store.tool_statistics(ADA, scope_keys=[GLOBAL], since=NOON, after=None, limit=9)
        assert (bash.tool_name, bash.execution_count, bash.success_count) == ("bash", 4, 3)
        assert (bash.mean_microseconds, bash.median_microseconds, bash.last_time) == (15.0, 15.0, at(3))
        assert bash.p95_microseconds == pytest.approx(28.5)
        assert (grep.tool_name, grep.mean_microseconds) == ("grep", None)
        after = await store.tool_statistics(ADA, scope_keys=[GLOBAL], since=NOON, after="bash", limit=9)
        assert [one.tool_name for one in after] == ["grep"]

    async def test_spec_2_10_a_task_is_its_latest_state_in_whatever_order_they_come(self, store: ActivityStore) -> None:
        began = record("1", state(description="Fix login"), task_id="k")
        paused = record("2", state(TaskStatus.PAUSED), task_id="k", minutes=5, conversation_id="c2")
        done = record("3", state(TaskStatus.COMPLETED, outcome="Fixed."), task_id="k", minutes=9)
        assert await store.write(ADA, [done, began]) == Stored(2, 0)
        assert await store.write(ADA, [paused, done]) == Stored(0, 2)
        task = await store.get_task(ADA, "k", scope_keys=EVERYWHERE)
        assert task is not None
        assert (task.description, task.outcome, task.status) == ("Fix login", "Fixed.", TaskStatus.COMPLETED)
        assert (task.start_time, task.update_time, task.end_time) == (NOON, at(9), at(9))
        resumed = record("4", state(TaskStatus.ACTIVE), task_id="k", minutes=12, conversation_id="c3")
        await store.write(ADA, [resumed])
        task = await store.get_task(ADA, "k", scope_keys=EVERYWHERE)
        assert task is not None
        assert (task.end_time, task.conversation_id, task.outcome) == (None, "c3", "Fixed.")
        with pytest.raises(InvalidArgument) as refused:
            await store.write(ADA, [record("5", ran("bash")), record("6", state(), task_id="new")])
        assert refused.value.violations[0].field_path == "records[1].task.description"
        assert await store.list_tools(ADA, SEEN, after=None, limit=9) == []
        assert await store.get_task(BEN, "k", scope_keys=EVERYWHERE) is None
        assert await store.get_task(ADA, "k", scope_keys=[PROJECT]) is None

    async def test_spec_2_10_tasks_are_listed_with_what_they_used(self, store: ActivityStore) -> None:
        await store.write(
            ADA,
            [
                record("1", state(description="one"), task_id="k1"),
                record("2", state(TaskStatus.COMPLETED, "two"), task_id="k2", minutes=1),
                record("3", state(TaskStatus.PAUSED, "three"), task_id="k3", minutes=2, conversation_id="c2"),
                *(record(f"a{n}", touched("a.py"), task_id="k1") for n in range(2)),
                record("b", touched("b.py"), task_id="k1"),
                record("t", ran("bash"), task_id="k1"),
            ],
        )

        async def listed(*statuses: TaskStatus, conversation_id: str = "", after: Position | None = None) -> list[str]:
            found = await store.list_tasks(
                ADA,
                scope_keys=EVERYWHERE,
                statuses=statuses,
                conversation_id=conversation_id,
                after=after,
                limit=9,
            )
            return [task.task_id for task in found]

        assert await listed() == ["k3", "k2", "k1"]
        assert await listed(TaskStatus.ACTIVE, TaskStatus.PAUSED) == ["k3", "k1"]
        assert await listed(conversation_id="c2") == ["k3"]
        assert await listed(after=Position(at(1), "k2")) == ["k1"]
        task = await store.get_task(ADA, "k1", scope_keys=EVERYWHERE)
        assert task is not None
        [used] = await store.with_uses(ADA, [task], scope_keys=EVERYWHERE, items_max=9)
        assert (used.files_touched, used.tools_used) == (("a.py", "b.py"), (("bash", 1),))
        [used] = await store.with_uses(ADA, [task], scope_keys=EVERYWHERE, items_max=1)
        assert used.files_touched == ("a.py",)

    async def test_vectors_are_of_one_model_and_one_description(self, store: ActivityStore) -> None:
        await store.write(ADA, [record("1", state(description="one"), task_id="k")])

        async def compared(model: str) -> list[list[float] | None]:
            found = await store.compared_tasks(ADA, scope_keys=EVERYWHERE, statuses=(), model=model, limit=9)
            return [None if one.vector is None else one.vector.tolist() for one in found]

        task = await store.get_task(ADA, "k", scope_keys=EVERYWHERE)
        assert task is not None
        await store.put_vectors(ADA, [(task, np.array([0.5, -1.0], np.float32))], model="m")
        assert await compared("m") == [[0.5, -1.0]]
        assert await compared("n") == [None]
        await store.write(ADA, [record("2", state(outcome="done"), task_id="k", minutes=1)])
        assert await compared("m") == [[0.5, -1.0]]
        await store.write(ADA, [record("3", state(description="two"), task_id="k", minutes=2)])
        assert await compared("m") == [None]
        await store.put_vectors(ADA, [(task, np.array([1.0, 1.0], np.float32))], model="m")
        assert await compared("m") == [None]

    async def test_patterns_are_listed_by_confidence(self, store: ActivityStore, upkeep: ActivityUpkeepStore) -> None:
        some = [pattern(1), pattern(2, observed=9, paths=("c.py", "d.py")), pattern(3)]
        await upkeep.put_patterns(ADA, some, removed=[], learned=None)

        async def listed(**fields: object) -> list[Pattern]:
            arguments: dict[str, object] = {"kind": None, "path": "", "confidence_min": 0.0, "after": None, "limit": 9}
            found = await store.list_patterns(ADA, scope_keys=[GLOBAL], **{**arguments, **fields})  # type: ignore[arg-type]
            return list(found)

        assert await listed() == [some[1], some[0], some[2]]
        assert await listed(path="c.py") == [some[1]]
        assert await listed(kind=PatternKind.REFACTOR) == []
        assert await listed(confidence_min=0.8) == [some[1]]
        assert await listed(after=(some[0].confidence, some[0].pattern_id)) == [some[2]]
        assert (
            await store.list_patterns(
                BEN, scope_keys=[GLOBAL], kind=None, path="", confidence_min=0.0, after=None, limit=9
            )
            == []
        )
        await upkeep.put_patterns(ADA, [pattern(1, observed=20)], removed=[some[1].pattern_id], learned=None)
        assert await upkeep.pattern_counts(ADA) == {some[0].pattern_id: (20, 1), some[2].pattern_id: (3, 1)}

    async def test_owners_are_changed_until_they_are_learned_from(
        self, store: ActivityStore, upkeep: ActivityUpkeepStore
    ) -> None:
        for owner in (ADA, BEN, OTHER):
            await store.write(owner, [record("1", ran("bash"))])
        [ada, ben, other] = await upkeep.owners(after=None, limit=9)
        assert [ada.owner, ben.owner, other.owner] == [ADA, BEN, OTHER]
        await upkeep.put_patterns(ADA, [], removed=[], learned=await upkeep.log_state(ADA))
        [ada, ben] = await upkeep.owners(after=None, limit=2)
        assert (ada.is_changed, ben.is_changed) == (False, True)
        assert [one.owner for one in await upkeep.owners(after=BEN, limit=9)] == [OTHER]
        await store.write(ADA, [record("2", ran("bash"))])
        assert (await upkeep.owners(after=None, limit=1))[0].is_changed

    async def test_jobs_read_what_patterns_are_learned_from(
        self, store: ActivityStore, upkeep: ActivityUpkeepStore
    ) -> None:
        await store.write(
            ADA,
            [
                record("1", ran("bash", success=False, error="E"), task_id="k"),
                record("2", ran("bash")),
                record("3", touched("b.py", FileOperation.RENAME, previous_path="a.py"), task_id="k"),
                record("4", touched("c.py", FileOperation.READ), task_id="k"),
            ],
        )
        [outcome] = await upkeep.outcomes(ADA, since=NOON, limit=9)
        assert (outcome.task_id, outcome.tool_name, outcome.success, outcome.error_message) == ("k", "bash", False, "E")
        [change] = await upkeep.changes(ADA, since=NOON, limit=9)
        assert (change.path, change.previous_path, change.operation) == ("b.py", "a.py", FileOperation.RENAME)
        assert await upkeep.changes(ADA, since=at(1), limit=9) == []

    async def test_spec_2_10_what_is_removed_is_gone(self, store: ActivityStore, upkeep: ActivityUpkeepStore) -> None:
        for owner in (ADA, BEN, OTHER):
            await store.write(
                owner,
                [
                    record("1", ran("bash")),
                    record("2", touched("a.py"), conversation_id="c2"),
                    record("3", state(description="one"), task_id="k", scope_key=PROJECT),
                    record("4", SNAPSHOT),
                    record("5", LEARNED),
                ],
            )
            await upkeep.put_patterns(owner, [pattern(1)], removed=[], learned=None)
        assert sorted(await store.scope_keys(ADA)) == sorted(EVERYWHERE)
        assert await store.remove(ADA, Removal(conversation_id="unknown"), now=NOON) == 0
        assert len(await upkeep.pattern_counts(ADA)) == 1
        assert await store.remove(ADA, Removal(conversation_id="c2"), now=NOON) == 1
        assert await upkeep.pattern_counts(ADA) == {}
        assert await store.remove(ADA, Removal(scope=Scope.from_key(PROJECT), scope_keys=[PROJECT]), now=NOON) == 1
        assert await store.remove(ADA, Removal(), now=NOON) == 3
        assert await store.scope_keys(ADA) == []
        assert [one.owner for one in await upkeep.owners(after=None, limit=9)] == [BEN, OTHER]
        assert await store.remove_tenant(BEN.tenant_id) == 5
        assert [one.owner for one in await upkeep.owners(after=None, limit=9)] == [OTHER]
        assert len(await store.list_tools(OTHER, SEEN, after=None, limit=9)) == 1

    async def test_no_tenant_sees_another(self, store: ActivityStore) -> None:
        await store.write(ADA, [record("1", ran("bash")), record("2", state(description="one"), task_id="k")])
        for owner in (BEN, OTHER):
            assert await store.list_tools(owner, SEEN, after=None, limit=9) == []
            assert await store.get_task(owner, "k", scope_keys=EVERYWHERE) is None
            assert await store.scope_keys(owner) == []
