"""Writes a user's canaries through every door, and reads what the stores made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import asyncpg
import numpy as np

from bench.prove_erase.canaries import Canaries, Pattern, vector_patterns
from bench.settling import settled
from mneme_client import Client, FactCategory, FeedbackValue, NoteKind, Preferences, Turn

_SENTENCES: Final = 120
_TOKEN_BYTES: Final = 32

_DEAD_LETTER: Final = """
    INSERT INTO gateway.deliveries (tenant_id, tier, kind, subject_id, sequence, user_id, next_attempt_time,
                                    given_up_time, create_time, payload)
    SELECT tenant_id, 1, 3, gen_random_uuid(), 0, user_id, now(), now(), now(), convert_to($2, 'UTF8')
    FROM gateway.conversations WHERE user_id = $1 LIMIT 1
"""


def long_text(word: str) -> str:
    """A turn that PostgreSQL stores out of line and compresses."""
    topics = ("harbour", "violin", "orchard", "lighthouse", "glacier", "marathon", "bakery")
    sentences = [f"On day {n} {word} came back to the {topics[n % len(topics)]} again." for n in range(_SENTENCES)]
    return " ".join(sentences)


async def write(client: Client, user_id: str, canaries: Canaries) -> None:
    """One canary for each door."""
    word = canaries.word
    await client.remember(
        user_id,
        word("conversation"),
        [
            Turn(f"My cat is called {word('turn')} and she lives in Trieste.", speaker=word("speaker")),
            Turn(f"I moved to {word('place')} in 2019 because of my job.", metadata={"note": word("metadata")}),
            Turn(long_text(word("long turn"))),
        ],
    )
    await settled(client)
    await client.append_turns(
        user_id, "c2", f"In a session I said that {word('session turn')} is my dentist.", create_if_missing=True
    )
    fact = await client.create_fact(user_id, f"My doctor is {word('fact')}.", category=FactCategory.CONTEXT)
    await client.update_fact(user_id, fact.fact_id, text=f"My surgeon is {word('updated fact')}.")
    note = await client.create_note(
        user_id, f"The boat is called {word('note')}.", NoteKind.OBSERVATION, tags=[word("tag")]
    )
    await client.update_profile(
        user_id, Preferences(preferred_sources=(word("profile"),), other={"colour": word("other preference")})
    )
    found = await client.recall(user_id, f"What about {word('recall query')}?", limit=10)
    await client.feedback(user_id, FeedbackValue.GOOD, recall_id=found.recall_id)
    await client.feedback(user_id, FeedbackValue.GOOD, note_ids=[note.note.note_id])
    await client.build_context(user_id, f"And about {word('context query')}?", token_budget=500)
    await client.append_turns(
        user_id, "c3", f"Nobody knows that {word('deleted session')} is here.", create_if_missing=True
    )
    await client.delete_session(user_id, "c3")


async def write_neighbours(client: Client, user_id: str, count: int) -> None:
    """Another user's turns, which stay: engines treat files that become empty differently."""
    for start in range(0, count, 50):
        turns = [f"Entry {n}: the train to Graz left platform {n % 12} on time." for n in range(start, start + 50)]
        await client.remember(user_id, f"c{start}", turns)


async def plant_dead_letter(url: str, user_id: str, canaries: Canaries) -> None:
    """A delivery of a session's event that was given up."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(_DEAD_LETTER, user_id, canaries.word("dead letter"))
    finally:
        await connection.close()


async def stored_vectors(url: str, user_id: str) -> list[Pattern]:
    """Vectors of facts and notes as PostgreSQL has them, and quantized vectors of tokens."""
    connection = await asyncpg.connect(url)
    found: list[Pattern] = []
    try:
        for name, table in (("fact", "semantic.facts"), ("note", "agentic.note_vectors")):
            if await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", table):
                rows = await connection.fetch(
                    f"SELECT embedding::real[] AS vector FROM {table} WHERE user_id = $1",  # noqa: S608 - ours
                    user_id,
                )
                found += _vectors(name, [row["vector"] for row in rows])
        tokens = await connection.fetch("SELECT tokens FROM episodic.token_vectors WHERE user_id = $1", user_id)
        for row in tokens:
            middle = len(row["tokens"]) // 2
            found.append(Pattern("tokens", "quantized", row["tokens"][middle : middle + _TOKEN_BYTES]))
    finally:
        await connection.close()
    return found


def _vectors(name: str, vectors: Sequence[Any]) -> list[Pattern]:
    return [pattern for vector in vectors for pattern in vector_patterns(name, np.array(vector, np.float32))]
