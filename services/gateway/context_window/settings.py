"""Settings of context windows at the gateway."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.settings_types import Count, CountOrNone, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextWindowSettings:
    """How windows are pruned, and prompts made of them."""

    attempts: Count = 5  # to change a window that others change meanwhile
    message_tokens: CountOrNone = 16  # counted for each message beside its text: role and heading
    code_limit: Count = 10  # files of relevant code where no number is asked for
    code_limit_max: Count = 20  # at most
    code_lines: CountOrNone = 80  # lines of the first of them, half as many of each further one; 0: heads alone
    code_lines_min: CountOrNone = 5  # lines that each of them may have at least; 0: each has `code_lines`
    task_limit: Count = 3  # similar past tasks, and the most there may be
    task_relevance: Share = 0.8  # of the item that names past tasks
    source_seconds: Seconds = 2.0  # for the search for code, and for that for tasks; what takes longer has failed
    restored_items_max: Count = 100  # items in one RestoreContextItems
    snapshot_items_max: Count = 2_000  # items of a pruning in the activity log, which takes as many
    token_budget_min: Count = 256  # smallest budget of a prompt
    token_budget_max: Count = 10_000_000  # largest
    message_chars_max: Count = 32_768  # of a user's message
