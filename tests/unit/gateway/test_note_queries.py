"""Queries of searches for notes in the first person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from mneme.agentic.v1 import notes_pb2
from services.common.errors import StoreUnavailable
from services.common.scope import GLOBAL_SCOPE
from services.gateway.note_queries import FirstPersonQueries


class Speakers:
    """The names of ada's speakers; None where they cannot be read."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self.names = names

    async def of(self, tenant_id: str, user_id: str) -> Sequence[str]:
        assert (tenant_id, user_id) == ("acme", "ada")
        if self.names is None:
            raise StoreUnavailable("journal")
        return self.names


@pytest.mark.parametrize(
    ("names", "query", "sent"),
    [
        (["Ann"], "Who is Ann's sister?", "Who is my sister?"),
        (["Ann"], "Who is Clara's sister?", "Who is Clara's sister?"),
        (None, "Who is Ann's sister?", "Who is Ann's sister?"),
        (["Ann"], "", ""),  # searched by a vector
    ],
)
async def test_spec_4_10_a_search_for_notes_is_put_into_the_first_person(
    names: Sequence[str] | None, query: str, sent: str
) -> None:
    request = notes_pb2.SearchNotesRequest(user_id="ada", query=query)
    await FirstPersonQueries(cast("Any", Speakers(names)))(request, "acme", GLOBAL_SCOPE)
    assert request.query == sent
