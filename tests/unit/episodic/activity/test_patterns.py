"""What is learned from records, by hand-made and by random ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.episodic.activity.config import ActivityQuerySettings, PatternSettings
from services.episodic.activity.model import Edit, FileOperation, Pattern, PatternKind
from services.episodic.activity.patterns import error_signature, folder_of, learned
from services.episodic.activity.store import FileChange, ToolOutcome
from services.episodic.activity.together import edited_together
from services.episodic.activity.words import words_of
from tests.contract.activity_samples import GLOBAL, PROJECT, at

QUERIES, PATTERNS = ActivityQuerySettings(), PatternSettings()


def pairs(*edits: tuple[str, str, float], count_min: int = 1, burst: int = 50) -> list[tuple[str, str, int, int]]:
    found = edited_together(
        [Edit(task, path, at(minutes)) for task, path, minutes in edits],
        within_seconds=300,
        count_min=count_min,
        burst_files_max=burst,
    )
    return [(pair.path, pair.other_path, pair.count, pair.task_count) for pair in found]


def change(task: str, path: str, minutes: float, operation: FileOperation = FileOperation.EDIT) -> FileChange:
    return FileChange(task, GLOBAL, path, operation, "", at(minutes))


def outcome(task: str, minutes: float, error: str = "") -> ToolOutcome:
    return ToolOutcome(task, GLOBAL, "pytest", not error, error, at(minutes))


def by_kind(kind: PatternKind, changes: list[FileChange], outcomes: list[ToolOutcome]) -> list[Pattern]:
    return [one for one in learned(changes, outcomes, PATTERNS, QUERIES) if one.kind is kind]


def test_spec_2_10_files_are_edited_together_within_five_minutes_in_one_task() -> None:
    assert pairs(("t", "a", 0), ("t", "b", 5)) == [("a", "b", 1, 1)]
    assert pairs(("t", "b", 0), ("t", "a", 5)) == [("a", "b", 1, 1)]
    assert pairs(("t", "a", 0), ("t", "b", 5.1)) == []
    assert pairs(("t", "a", 0), ("u", "b", 1)) == []
    three = [(f"t{number}", path, 0.0) for number in range(3) for path in "ab"]
    assert pairs(*three, count_min=3) == [("a", "b", 3, 3)]
    assert pairs(*three[:-1], count_min=3) == []


def test_three_edits_beside_a_single_one_are_one_time() -> None:
    assert pairs(("t", "a", 0), ("t", "a", 1), ("t", "a", 2), ("t", "b", 2)) == [("a", "b", 1, 1)]


def test_a_mass_change_says_nothing_about_two_files() -> None:
    many = [("t", f"f{number}", 0.0) for number in range(4)]
    assert len(pairs(*many, burst=3)) == 6
    assert pairs(*many, burst=2) == []


@given(st.lists(st.tuples(st.sampled_from("tu"), st.sampled_from("abc"), st.integers(0, 30)), max_size=25))
def test_pairs_are_those_that_a_plain_count_finds(edits: list[tuple[str, str, int]]) -> None:
    beside: dict[tuple[str, str], int] = defaultdict(int)
    for task, path, minutes in edits:
        for other in {o for t, o, m in edits if t == task and o != path and abs(m - minutes) <= 5}:
            beside[path, other] += 1
    expected = {(a, b): min(n, beside[b, a]) for (a, b), n in beside.items() if a < b}
    assert {(path, other): count for path, other, count, _ in pairs(*edits)} == expected


def test_spec_2_10_a_co_edit_loses_confidence_where_one_file_is_edited_alone() -> None:
    both = [change(f"t{number}", path, 0) for number in range(3) for path in ("a.py", "b.py")]
    [pattern] = by_kind(PatternKind.CO_EDIT, both, [])
    assert (pattern.paths, pattern.observed_count, pattern.confidence) == (("a.py", "b.py"), 3, 4 / 5)
    alone = [change(f"u{number}", "a.py", 0) for number in range(5)]
    [weaker] = by_kind(PatternKind.CO_EDIT, both + alone, [])
    assert (weaker.contrary_count, weaker.confidence) == (5, 0.4)
    assert weaker.pattern_id == pattern.pattern_id
    assert by_kind(PatternKind.CO_EDIT, both + alone + [change(f"v{n}", "b.py", 0) for n in range(9)], []) == []
    elsewhere = [replace(one, scope_key=PROJECT) for one in both]
    [other] = by_kind(PatternKind.CO_EDIT, elsewhere, [])
    assert other.pattern_id != pattern.pattern_id


def test_spec_2_10_an_error_is_fixed_by_what_is_edited_before_the_next_success() -> None:
    changes, outcomes = [], []
    for number in range(2):
        task = f"t{number}"
        outcomes += [outcome(task, 0, f"E: line {number}\nmore"), outcome(task, 5)]
        changes += [change(task, "fix.py", 2), change(task, "late.py", 6)]
    outcomes.append(outcome("open", 0, "E: line 9"))
    [fix] = by_kind(PatternKind.ERROR_FIX, changes, outcomes)
    assert (fix.paths, fix.tool_name, fix.error) == (("fix.py",), "pytest", "E: line #")
    assert (fix.observed_count, fix.contrary_count, fix.confidence) == (2, 1, 0.6)
    assert by_kind(PatternKind.ERROR_FIX, changes[:2], outcomes[:2]) == []


def test_spec_2_10_renames_are_followed_by_edits() -> None:
    changes = []
    for number in range(2):
        move = FileChange(f"t{number}", GLOBAL, f"lib/n{number}.py", FileOperation.RENAME, f"old/n{number}.py", at(0))
        changes += [move, change(f"t{number}", "app.py", 1), change(f"t{number}", f"lib/n{number}.py", 2)]
    [pattern] = by_kind(PatternKind.REFACTOR, changes, [])
    assert (pattern.folder, pattern.paths, pattern.observed_count) == ("old", ("app.py",), 2)


def test_signatures_folders_and_words() -> None:
    assert error_signature("\n----\n  Line 12 of  3\nrest", chars_max=50) == "Line # of #"
    assert len(error_signature("x" * 10_000, chars_max=200)) == 200
    assert (folder_of("a/b/c.py"), folder_of("c.py"), folder_of("a\\c.py")) == ("a/b", "", "a")
    assert words_of("What did I do with AuthService in src/user_login.py?") == {
        "authservice",
        "auth",
        "service",
        "src",
        "user",
        "login",
    }
