"""Procedures and judgements as both drivers store them: what is searched for as fields, the rest as JSON."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from services.semantic.procedures.model import JudgedRecall, Procedure

_PROCEDURE: Final = TypeAdapter(Procedure)
_JUDGED: Final = TypeAdapter(JudgedRecall)


def procedure_state(procedure: Procedure) -> dict[str, Any]:
    """A procedure as JSON."""
    state: dict[str, Any] = _PROCEDURE.dump_python(procedure, mode="json")
    return state


def procedure_of(state: Any) -> Procedure:
    """The inverse of `procedure_state`."""
    return _PROCEDURE.validate_python(state)


def judged_state(judged: JudgedRecall) -> dict[str, Any]:
    """A judgement as JSON."""
    state: dict[str, Any] = _JUDGED.dump_python(judged, mode="json")
    return state


def judged_of(state: Any) -> JudgedRecall:
    """The inverse of `judged_state`."""
    return _JUDGED.validate_python(state)
