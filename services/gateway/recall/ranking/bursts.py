"""Which candidates are messages of one burst: several in a row by the same speaker, as people write in chats.

What is said in one of them is meant with the others, and who answers answers all of them. Where speakers take turns
message by message every burst is one message, and so it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

_MESSAGES_MAX: Final = 8
"""Most messages of a burst. Without known speakers a whole session would be one burst."""

_SHARE_MIN: Final = 0.15
"""Of candidates that are messages in a row by one speaker. Of conversations in turns none are, of those that were
rewritten as chats three quarters, and for no question less than 0.48."""

_SPEAKER_BITS: Final = 16  # there are fewer speakers than candidates, and of these some hundred

_Index = npt.NDArray[np.intp]
_Floats = npt.NDArray[np.float64]


def are_messages(
    session: npt.NDArray[np.int32], position: npt.NDArray[np.int32], speaker: npt.NDArray[np.int32]
) -> bool:
    """Whether these are candidates of a conversation in messages, several in a row by one of several speakers."""
    if not len(session) or (speaker == speaker[0]).all():
        return False
    # Session, place and speaker in one number: the next message by the same speaker is one place further.
    messages = (((session.astype(np.int64) << 32) + position) << _SPEAKER_BITS) + speaker
    messages.sort()
    pairs = np.count_nonzero(messages[1:] - messages[:-1] == 1 << _SPEAKER_BITS)
    # A pair makes two candidates at most messages in a row, which is enough to recognise most conversations in turns.
    if 2 * pairs < _SHARE_MIN * len(session):
        return False
    return Bursts.of(session, position, speaker).shared_share >= _SHARE_MIN


@dataclass(frozen=True, slots=True, eq=False)
class Bursts:
    """n candidates in m bursts; bursts are in the order of session and place."""

    of_candidate: _Index  # [n], the burst of each
    place: _Index  # [n], place of each in its burst, from 0
    sizes: _Index  # [m]
    follows: npt.NDArray[np.bool_]  # [m], the burst before ends right before this one begins
    order: _Index  # [n], the candidates by session and place
    firsts: _Index  # [m], where each begins in that order

    @classmethod
    def of(
        cls, session: npt.NDArray[np.int32], position: npt.NDArray[np.int32], speaker: npt.NDArray[np.int32]
    ) -> Bursts:
        """Finds them: the session's index, the place in it, who speaks, `[n]` each. A gap ends a burst."""
        count = len(session)
        order = np.lexsort((position, session))
        sessions, positions, speakers = session[order], position[order], speaker[order]
        is_next = (sessions[1:] == sessions[:-1]) & (positions[1:] == positions[:-1] + 1)
        begins = np.ones(count, dtype=np.bool_)
        begins[1:] = ~(is_next & (speakers[1:] == speakers[:-1]))
        firsts = np.flatnonzero(begins)
        places = np.arange(count) - firsts[np.cumsum(begins) - 1]
        begins |= places % _MESSAGES_MAX == 0
        firsts = np.flatnonzero(begins)
        numbers = np.cumsum(begins) - 1
        of_candidate, place = np.empty(count, dtype=np.intp), np.empty(count, dtype=np.intp)
        of_candidate[order], place[order] = numbers, places % _MESSAGES_MAX
        follows = np.zeros(len(firsts), dtype=np.bool_)
        follows[1:] = is_next[firsts[1:] - 1]
        return cls(of_candidate, place, np.diff(np.append(firsts, count)), follows, order, firsts)

    @property
    def shared_share(self) -> float:
        """The share of candidates that are not their whole burst; 0 without candidates."""
        return float(self.sizes[self.sizes > 1].sum()) / max(1, len(self.order))

    @property
    def are_single(self) -> bool:
        """Whether each is one message."""
        return len(self.sizes) == len(self.order)

    def best(self, values: _Floats) -> _Floats:
        """The highest value in each burst: `[..., n]` to `[..., m]`."""
        found: _Floats = np.maximum.reduceat(values[..., self.order], self.firsts, axis=-1)
        return found

    def totals(self, values: _Floats) -> _Floats:
        """The sum of each burst, `[..., n]` to `[..., m]`."""
        found: _Floats = np.add.reduceat(values[..., self.order], self.firsts, axis=-1)
        return found

    def before(self, values: _Floats) -> _Floats:
        """Of each burst the value of the one before, 0 where there is none among the candidates: `[..., m]`."""
        found = np.zeros_like(values)
        found[..., 1:] = np.where(self.follows[1:], values[..., :-1], 0.0)
        return found

    def after(self, values: _Floats) -> _Floats:
        """Of each burst the value of the one after, 0 where there is none among the candidates: `[..., m]`."""
        found = np.zeros_like(values)
        found[..., :-1] = np.where(self.follows[1:], values[..., 1:], 0.0)
        return found
