"""The end of `mneme demo`, against all services (SPEC 4.6 to 4.9)."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from mneme_client import Client, LinkType, NoteKind
from services.cli.commands.demo_insights import show_insights

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_spec_4_8_the_demo_asks_suggests_reflects_and_measures(client: Client, user_id: str) -> None:
    until = datetime.now(UTC) + timedelta(minutes=1)
    notes = [
        await client.create_note(user_id, content, NoteKind.FACT)
        for content in ("The boat lies in the harbour of Faro.", "The fishing permit ends in June.")
    ]
    boat, permit = (made.note.note_id for made in notes)
    await client.create_link(user_id, boat, permit, LinkType.RELATED_TO, strength=0.9)
    written = io.StringIO()
    out = Console(file=written, width=200, color_system=None)
    await show_insights(out, client, user_id, asked=["Where does the boat lie?"], until=until)
    said = written.getvalue()
    for part in (
        "read as: AGGREGATE, by topic",
        "boat (1)",
        "related topic",
        "mneme reflect, on the notes that were made in the last 7 days",
        "The fishing permit ends in June.",
        "2 notes, 1 links, 0 without a link, 0 duplicates",
    ):
        assert part in said, said


async def test_the_demo_shows_a_user_without_notes(client: Client, user_id: str) -> None:
    written = io.StringIO()
    await show_insights(Console(file=written, width=200), client, user_id, asked=[], until=datetime.now(UTC))
    assert "no notes" in written.getvalue()
    assert "0 notes, 0 links" in written.getvalue()
