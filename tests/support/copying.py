"""An installation with memories of two tenants, and what it answers."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest
from typer.testing import CliRunner, Result

from mneme_client import Client, FeedbackValue, RememberItem, Turn
from services.cli.demo_data import demo_entries
from services.cli.importers.model import ImportedTurn
from services.cli.main import app
from services.common.auth import Role, create_api_key
from tests.support.stack import running_stack, unlinked_by_use

TENANTS: Final = {"acme": ("ana", "ben"), "globex": ("ana",)}
"""Users of each tenant; one of them is of both."""
QUESTIONS: Final = (
    "Where does Nadia work?",
    "What is Nadia allergic to?",
    "Which doctor did she see?",
    "What do they plan for the summer?",
)
_TURNS: Final = 40
_AS_OF: Final = datetime(2026, 7, 1, tzinfo=UTC)
_NOW: Final = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Filled:
    """An installation that was stopped again."""

    data_dir: Path
    keys_file: Path
    keys: Mapping[str, str]  # by tenant
    answers: Mapping[tuple[str, str, str], Any]


def make_keys(folder: Path) -> tuple[Path, dict[str, str]]:
    """A key of each tenant."""
    file = folder / "keys.json"
    keys = {
        tenant: create_api_key(file, tenant_id=tenant, principal_id="test", role=Role.ADMIN, now=_NOW)[0]
        for tenant in TENANTS
    }
    return file, keys


async def fill(data_dir: Path, model_folder: Path, keys_folder: Path) -> Filled:
    """Writes memories of all users, asks the questions, and stops the services."""
    keys_file, keys = make_keys(keys_folder)
    async with running_stack(data_dir, model_folder, keys_file=keys_file) as stack:
        turns = [entry for entry in demo_entries() if isinstance(entry, ImportedTurn)][:_TURNS]
        for tenant, users in TENANTS.items():
            async with Client(stack.gateway_target, keys[tenant], default_timeout_seconds=300.0) as client:
                for number, user in enumerate(users):
                    given = [RememberItem(user, e.conversation_id, e.turn) for e in turns[number:]]
                    result = await client.remember_stream(given)
                    await client.wait_until_visible(user, result.consistency_token)
                found = await client.recall(users[0], QUESTIONS[0])
                await client.feedback(users[0], FeedbackValue.GOOD, memory_ids=[found.memories[0].memory_id])
        return Filled(data_dir, keys_file, keys, await ask_all(stack.gateway_target, keys))


async def ask_all(target: str, keys: Mapping[str, str]) -> dict[tuple[str, str, str], Any]:
    """Ids of what every user's questions find, tier by tier, in order."""
    answers: dict[tuple[str, str, str], Any] = {}
    for tenant, users in TENANTS.items():
        async with Client(target, keys[tenant], default_timeout_seconds=300.0) as client:
            for user in users:
                for question in QUESTIONS:
                    found = await client.recall(user, question, limit=8, as_of_time=_AS_OF)
                    assert not found.degraded
                    answers[tenant, user, question] = (
                        [memory.memory_id for memory in found.memories],
                        [hit.fact.fact_id for hit in found.facts],
                        [hit.note.note_id for hit in found.notes],
                    )
    return answers


async def remember_more(target: str, keys: Mapping[str, str]) -> list[str]:
    """Goes on with the first conversation of a user, and what then stands at its end."""
    async with Client(target, keys["acme"], default_timeout_seconds=300.0) as client:
        conversation = await anext(c.conversation_id async for c in client.list_conversations("ben"))
        result = await client.remember("ben", conversation, [Turn("My new bicycle is orange."), Turn("It squeaks.")])
        await client.wait_until_visible("ben", result.consistency_token)
        found = await client.recall("ben", "What colour is the bicycle?", limit=3)
        assert found.memories[0].text == "My new bicycle is orange."
        return [turn.turn.content async for turn in client.list_interactions("ben", conversation)][-2:]


def copy_command(source: Path, target: Path, *options: str) -> Sequence[str]:
    """The command line of a copy, as a process of its own."""
    return [sys.executable, "-m", "services.cli.main", "copy", "--from", str(source), "--to", str(target), *options]


def run_copy_command(source: Path, target: Path, *options: str) -> Result:
    """Runs a copy in this process, off the event loop."""
    arguments = ["copy", "--from", str(source), "--to", str(target), *options]
    return CliRunner().invoke(app, arguments, env={**os.environ, "COLUMNS": "200"})


@asynccontextmanager
async def reopened(filled: Filled, data_dir: Path, model_folder: Path, **settings: Any) -> AsyncIterator[str]:
    """The services on another installation, with the keys of the filled one; yields the gateway's address.

    Args:
        filled: Whose keys.
        data_dir: Of the embedded engines, as far as there are any.
        model_folder: The embedding model.
        **settings: Of the host, such as URLs of servers.
    """
    from services.cli.stack import StackSettings, run_stack
    from services.common.hosting import HostSettings

    host_settings = HostSettings(
        api_keys_file=filled.keys_file, embedding_model_dir=model_folder, otlp_endpoint="", **settings
    )
    chosen = StackSettings(data_dir=data_dir, port=0, host_settings=host_settings, grace_seconds=1.0)
    async with AsyncExitStack() as started:
        with unlinked_by_use():
            services = await started.enter_async_context(run_stack(chosen))
        yield services.gateway_target


async def until_begun(
    connection: asyncpg.Connection[asyncpg.Record], kind: str, copying: asyncio.subprocess.Process
) -> None:
    """Asks the target again and again until some of a kind has arrived and more of it is on its way.

    Args:
        connection: To the target's database, as one who sees everything.
        kind: Pattern of its name.
        copying: The copy, a process whose standard error is a pipe.
    """
    query = "SELECT true FROM mneme_copy.progress WHERE kind LIKE $1 AND NOT is_complete"
    async with asyncio.timeout(300):
        while copying.returncode is None:
            is_begun = await connection.fetchval("SELECT to_regclass('mneme_copy.progress') IS NOT NULL")
            if is_begun and await connection.fetchval(query, kind):
                return
    assert copying.stderr is not None
    pytest.fail(f"the copy ended before {kind}: {(await copying.stderr.read()).decode()}")
