"""Results of tools as short text."""

from __future__ import annotations

from mneme_client import ForgetResult, Memory, Role
from services.cli.rendering import counted, mark_of

_CHARS_MAX = 600  # of one memory; its id leads to the whole


def memory_line(memory: Memory) -> str:
    """One recalled turn on a line: id, day, speaker, and what was said."""
    day = memory.turn.time.date().isoformat() if memory.turn.time else "undated"
    said = one_line(memory.turn.content)
    speaker, role = one_line(memory.turn.speaker), memory.turn.role.name.lower()
    marks = [role] if speaker and memory.turn.role is not Role.USER else []
    marks += [mark_of(memory).strip(" ()")] if memory.superseded_by else []
    mark = f" ({', '.join(marks)})" if marks else ""
    return f"[{memory.memory_id}] {day}, {speaker or role}{mark}: {said}"


def plan_lines(found: ForgetResult) -> str:
    """What would be erased, and how to go on."""
    if found.plan is None or not found.plan.memories:
        return "Nothing matches: nothing would be erased."
    lines = [f"- {one_line(memory.preview)}" for memory in found.plan.memories]
    plan = found.plan
    counts = ", ".join((counted(plan.episodes, "turn"), counted(plan.facts, "fact"), counted(plan.notes, "note")))
    return "\n".join([f"Would erase {counts}, among them:", *lines, f"plan_token: {found.plan_token}"])


def one_line(text: str) -> str:
    """Text without line breaks, shortened."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _CHARS_MAX else f"{flat[: _CHARS_MAX - 3]}..."
