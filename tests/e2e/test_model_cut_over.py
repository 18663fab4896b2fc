"""The embedding model is changed, and changed back, while turns are remembered and recalled."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import psutil
import pytest

from mneme_client import Client, MnemeClientError, RecallResult, RetryPolicy, TierState
from services.common.errors import FailedPrecondition
from tests.support.second_model import make_second_model
from tests.support.stack import patient_client, running_stack, until

FILLS = ("episodic.fill_second_index", "semantic.fill_second_vectors", "agentic.fill_second_vectors")
PETS = {"ada": "My cat is called Momo.", "bob": "My dog is called Rex.", "cleo": "My horse is called Silver."}
QUESTION = "What is my pet called?"
MISSING = "anew"
"""A word of the reason for which a recall may be degraded meanwhile: facts or notes are embedded anew."""
INCOMPLETE = "index incomplete"
"""Of the other one: a slow disk keeps the engine for too long, and turns are searched by their words alone."""


@pytest.fixture(scope="module")
def second_folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_second_model(model_folder, tmp_path_factory.mktemp("second") / "model")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_SERVING_MODEL__FOLLOW_SECONDS", "0.2")
    monkeypatch.setenv("MNEME_SERVING_MODEL__REPORT_SECONDS", "1")
    monkeypatch.setenv("MNEME_SERVING_MODEL__SETTLE_SECONDS", "3")


@dataclass
class Load:
    """Remembers and recalls all the time, and notes what goes wrong."""

    client: Client
    wrong: list[str] = field(default_factory=list)
    recalls: int = 0
    turns: int = 0

    async def recall(self) -> None:
        for user in itertools.cycle(PETS):
            found = await self.client.recall(user, QUESTION)
            self.recalls += 1
            self._check(user, found)

    async def remember(self) -> None:
        for number in itertools.count():
            user = list(PETS)[number % len(PETS)]
            text = f"Parcel number {number} is in depot {4000 + number}."
            written = await self.client.remember(user, f"load-{number % 5}", text)
            self.turns += 1
            found = await self.client.recall(
                user, f"Where is parcel number {number}?", consistency_token=written.consistency_token
            )
            if text not in [memory.turn.content for memory in found.memories]:
                self.wrong.append(f"{user} lacks {text!r} at once")

    async def goes_on(self) -> None:
        """Returns when some more calls have been made."""
        turns, recalls = self.turns + 3, self.recalls + 9

        async def are_made() -> bool:
            await asyncio.sleep(0.05)  # a question without a call would let nothing else run
            return self.turns >= turns and self.recalls >= recalls

        await until(are_made)

    def _check(self, user: str, found: RecallResult) -> None:
        if PETS[user] not in [memory.turn.content for memory in found.memories]:
            self.wrong.append(f"{user} lacks the pet")
        for tier in found.tiers:
            is_told = any(reason in tier.reason for reason in (MISSING, INCOMPLETE))
            if tier.state is not TierState.SKIPPED and tier.reason and not is_told:
                self.wrong.append(f"{tier.tier}: {tier.reason}")


@contextlib.asynccontextmanager
async def under_load(client: Client) -> AsyncIterator[Load]:
    """Two loops of calls for the length of the block; a call that fails ends it."""
    load = Load(client)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(load.recall()), group.create_task(load.remember())]
        yield load
        for task in tasks:
            task.cancel()


async def all_follow(client: Client, model: str) -> None:
    async def follow() -> bool:
        state = await client.get_embedding_model()
        return all(process.serving_model == model for process in state.processes) and state.serving_model == model

    await until(follow, timeout_seconds=60.0)


async def is_whole(client: Client) -> bool:
    """Whether no recall lacks anything."""
    found = [await client.recall(user, QUESTION) for user in PETS]
    return not any(each.degraded for each in found)


async def facts_and_notes(client: Client) -> dict[str, tuple[set[str], set[str]]]:
    """What searches by vectors find, by user: all that a user has, since each has few."""
    return {
        user: (
            {found.fact.text for found in await client.search_facts(user, QUESTION)},
            {found.note.content for found in await client.search_notes(user, QUESTION, hops=0)},
        )
        for user in PETS
    }


async def remember_pets(client: Client) -> None:
    for user, text in PETS.items():
        written = await client.remember(user, "c1", [text, "I live in Lyon."])
        found = await client.recall(user, QUESTION, consistency_token=written.consistency_token)
        assert found.memories[0].turn.content == text


@pytest.mark.ci("an installation that starts four times, under load")
async def test_spec_8_4_a_cut_over_and_the_way_back_need_no_restart(
    tmp_path: Path, model_folder: Path, second_folder: Path
) -> None:
    data = tmp_path / "data"
    async with running_stack(data, model_folder) as services, patient_client(services.gateway_target) as client:
        await remember_pets(client)
        first = (await client.get_embedding_model()).serving_model

    async with (
        running_stack(data, model_folder, second_model_folder=second_folder) as services,
        Client(services.gateway_target, default_timeout_seconds=60.0, retry=RetryPolicy(attempts_max=1)) as client,
    ):
        state = await client.get_embedding_model()
        assert state.held_models == (first, f"reversed-{first}")
        assert state.serving_model == first
        second = state.held_models[1]
        whole = await facts_and_notes(client)
        assert all(facts and notes for facts, notes in whole.values()), whole
        with pytest.raises(MnemeClientError, match="lacks episodes of 3 users") as refused:
            await client.cut_over_embedding_model(second)
        assert refused.value.code is grpc.StatusCode.FAILED_PRECONDITION
        with pytest.raises(MnemeClientError, match="does not hold"):
            await client.cut_over_embedding_model("another")
        assert {FILLS[1], FILLS[2]} <= {job.name for job in (await client.get_jobs()).jobs}
        for user, job in itertools.product(PETS, FILLS):
            await client.run_job(user, job)

        # While nothing is written, facts and notes are found at once after a cut-over, there and back.
        for model in (second, first):
            await client.cut_over_embedding_model(model)
            assert await is_whole(client)
            assert await facts_and_notes(client) == whole
            await all_follow(client, model)
            assert await is_whole(client)
            assert await facts_and_notes(client) == whole

        async with under_load(client) as load:
            for model, former in ((second, first), (first, second), (second, first)):
                await load.goes_on()
                state = await client.cut_over_embedding_model(model)
                assert (state.serving_model, state.former_model) == (model, former)
                again = await client.cut_over_embedding_model(model)
                assert again.change_time == state.change_time
                await all_follow(client, model)
                await until(lambda: is_whole(client))
                await load.goes_on()
        assert load.wrong == []

    async with (
        running_stack(data, model_folder, second_model_folder=second_folder) as services,
        patient_client(services.gateway_target) as client,
    ):
        assert (await client.get_embedding_model()).serving_model == second  # the choice outlives a restart
        await until(lambda: is_whole(client))

    with pytest.raises(FailedPrecondition, match="was cut over to reversed-"):
        async with running_stack(data, model_folder):
            pass
    async with running_stack(data, second_folder) as services, patient_client(services.gateway_target) as client:
        state = await client.get_embedding_model()
        assert (state.serving_model, state.former_model) == (second, "")
        await until(lambda: is_whole(client))


def process_of(service: str, others: set[psutil.Process]) -> psutil.Process | None:
    """The process that runs a service, and is none of the others."""
    for child in set(psutil.Process(os.getpid()).children(recursive=True)) - others:
        with contextlib.suppress(psutil.Error):
            if child.cmdline()[-2:] == ["-m", f"services.{service}"]:
                return child
    return None


@pytest.mark.proof("make test-proofs")
async def test_spec_8_4_processes_follow_a_cut_over_and_kills_leave_one_state(
    tmp_path: Path, model_folder: Path, second_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Processes read their own environment.
    monkeypatch.setenv("MNEME_EMBEDDING_MODEL_DIR", str(model_folder))
    monkeypatch.setenv("MNEME_EMBEDDING_SECOND_MODEL_DIR", str(second_folder))
    monkeypatch.setenv("MNEME_EMBEDDING_THREADS", "1")
    others = set(psutil.Process(os.getpid()).children(recursive=True))
    patient = RetryPolicy(attempts_max=400, initial_backoff_seconds=0.05, backoff_seconds_max=0.2)
    async with (
        running_stack(tmp_path / "data", model_folder, second_model_folder=second_folder, processes=True) as services,
        Client(services.gateway_target, retry=patient, default_timeout_seconds=60.0) as client,
    ):
        await remember_pets(client)
        first, second = (await client.get_embedding_model()).held_models
        async with under_load(client) as load:
            await client.cut_over_embedding_model(second)
            await all_follow(client, second)
            assert {process.service for process in (await client.get_embedding_model()).processes} == {
                "gateway",
                "episodic",
                "semantic",
                "agentic",
            }
            await until(lambda: is_whole(client))
            await load.goes_on()
        assert load.wrong == []

        targets = itertools.cycle((first, second))
        for service, delay in (("episodic", 0.0), ("semantic", 0.1), ("gateway", 0.0), ("agentic", 0.3)):
            target = next(targets)
            changing = asyncio.create_task(client.cut_over_embedding_model(target, allow_gaps=True))
            await asyncio.sleep(delay)
            killed = process_of(service, others)
            assert killed is not None
            killed.send_signal(signal.SIGKILL)
            assert (await changing).serving_model == target
            await all_follow(client, target)
            await until(lambda: is_whole(client))
            for user, text in PETS.items():
                assert text in [memory.turn.content for memory in (await client.recall(user, QUESTION)).memories]
