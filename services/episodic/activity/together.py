"""Files that are edited together: a pure function over arrays of edits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from services.episodic.activity.model import Edit, EditedTogether

Integers = NDArray[np.int64]

_MICROSECOND = timedelta(microseconds=1)


def edited_together(
    edits: Sequence[Edit], *, within_seconds: float, count_min: int, burst_files_max: int, path: str = ""
) -> list[EditedTogether]:
    """Pairs of files that are edited in one task at most so far apart, the most frequent first.

    Edits of a file are counted that have one of the other file around them, and of both numbers the lesser one: three
    edits of one file beside a single one of another are one time. An edit with more than `burst_files_max` other files
    around it counts for none. Pairs that are edited together less than `count_min` times are left out, and with a
    `path` those without it.

    Takes memory and time for n (burst_files_max + 1) pairs of n edits, plus sorting.
    """
    if not edits:
        return []
    names = sorted({edit.path for edit in edits})
    number_of = {name: number for number, name in enumerate(names)}
    task_of = {task_id: number for number, task_id in enumerate(dict.fromkeys(edit.task_id for edit in edits))}
    start = min(edit.time for edit in edits)
    paths = np.array([number_of[edit.path] for edit in edits], np.int64)
    tasks = np.array([task_of[edit.task_id] for edit in edits], np.int64)
    times = np.array([(edit.time - start) // _MICROSECOND for edit in edits], np.int64)
    order = np.lexsort((times, tasks))
    paths, tasks, times = paths[order], tasks[order], times[order]
    within = timedelta(seconds=within_seconds) // _MICROSECOND
    if path:
        wanted = number_of.get(path, -1)
        found = _neighbours(paths, tasks, times, within, burst_files_max)
        kept = (paths[found[0]] == wanted) | (paths[found[1]] == wanted)
        edit, other = found[0][kept], found[1][kept]
    else:
        edit, other = _neighbours(paths, tasks, times, within, burst_files_max)
    if not len(edit):
        return []
    lesser, greater = np.minimum(paths[edit], paths[other]), np.maximum(paths[edit], paths[other])
    pairs, of_pair = np.unique(lesser * len(names) + greater, return_inverse=True)
    is_lesser = paths[edit] == lesser
    of_lesser = np.bincount(of_pair[is_lesser], minlength=len(pairs))
    counts = np.minimum(of_lesser, np.bincount(of_pair[~is_lesser], minlength=len(pairs)))
    in_tasks = np.unique(of_pair[is_lesser] * len(task_of) + tasks[edit[is_lesser]]) // len(task_of)
    task_counts = np.bincount(in_tasks, minlength=len(pairs))
    last = np.zeros(len(pairs), np.int64)
    np.maximum.at(last, of_pair, times[edit])
    together = [
        EditedTogether(
            names[pairs[at] // len(names)],
            names[pairs[at] % len(names)],
            int(counts[at]),
            int(task_counts[at]),
            start + timedelta(microseconds=int(last[at])),
        )
        for at in np.flatnonzero(counts >= count_min)
    ]
    return sorted(together, key=lambda pair: (-pair.count, pair.path, pair.other_path))


def _neighbours(
    paths: Integers, tasks: Integers, times: Integers, within: int, burst_files_max: int
) -> tuple[Integers, Integers]:
    """Edits, each with the first edit of every other file around it: as two arrays of places.

    Around an edit is a range of places. An edit is the first one of its file there for those whose range begins behind
    the edit of that file before it, and at the latest with it: again a range, since the bounds rise with the places.
    """
    size = len(paths)
    moments = tasks * (int(times.max()) + within + 1) + times
    begin = np.searchsorted(moments, moments - within, side="left")
    end = np.searchsorted(moments, moments + within, side="right")
    of_file = tasks * (int(paths.max()) + 1) + paths
    by_file = np.argsort(of_file, kind="stable")
    before = np.full(size, -1, np.int64)
    is_same = of_file[by_file[1:]] == of_file[by_file[:-1]]
    before[by_file[1:][is_same]] = by_file[:-1][is_same]
    places = np.arange(size)
    first = np.maximum(np.searchsorted(end, places, side="right"), np.searchsorted(begin, before, side="right"))
    behind = np.maximum(np.searchsorted(begin, places, side="right"), first)
    files_around = np.cumsum(np.bincount(first, minlength=size + 1) - np.bincount(behind, minlength=size + 1))[:size]
    counted = np.flatnonzero(files_around <= burst_files_max + 1)  # its own file is one of them
    first, behind = np.searchsorted(counted, first), np.searchsorted(counted, behind)
    lengths = behind - first
    other = np.repeat(places, lengths)
    offsets = np.arange(len(other)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    edit = counted[np.repeat(first, lengths) + offsets]
    is_other = paths[edit] != paths[other]
    return edit[is_other], other[is_other]
