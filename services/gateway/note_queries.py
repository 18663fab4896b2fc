"""Searches for notes by what a speaker would say, as in recalls: notes hold turns, which say "I" for their speaker."""

from __future__ import annotations

from typing import Final

import structlog

from mneme.agentic.v1 import notes_pb2
from services.common.errors import StoreUnavailable
from services.common.scope import Scope
from services.gateway.recall.question.reading import to_first_person
from services.gateway.recall.question.speakers import SpeakerNames

_log = structlog.get_logger(__name__)

SEARCH_NOTES: Final = "mneme.agentic.v1.NoteService.SearchNotes"


class FirstPersonQueries:
    """Completes searches for notes. The agentic tier does the same with questions, whose notes it reads anyway."""

    def __init__(self, speakers: SpeakerNames) -> None:
        """Knows the names of `speakers`."""
        self._speakers = speakers

    async def __call__(self, request: notes_pb2.SearchNotesRequest, tenant_id: str, _reader: Scope) -> None:
        """Puts the query into the first person of the speakers that it names.

        Where their names cannot be read the query stays as it is.
        """
        if not request.query:
            return
        try:
            names = await self._speakers.of(tenant_id, request.user_id)
        except StoreUnavailable as error:
            _log.warning("speakers_not_read", error=type(error).__name__)
            return
        request.query = to_first_person(request.query, names)
