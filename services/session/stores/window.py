"""A session in the memory of this process, as it changes."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from services.common.owners import InteractionId
from services.session.model import (
    POSITION_MAX,
    NewTurn,
    Session,
    SessionKey,
    SessionPast,
    SessionSpec,
    SessionTurn,
    turn_size_bytes,
)

_Placed = tuple[int, int, SessionTurn]  # position, arrival, turn: sorts as a window does


class LiveSession:
    """The mutable counterpart of `Session`. No method suspends, so that each is atomic in an event loop."""

    def __init__(
        self,
        key: SessionKey,
        spec: SessionSpec,
        *,
        now: datetime,
        remembered_turns: int,
        past: SessionPast | None = None,
    ) -> None:
        """Begin an empty session that knows `remembered_turns` ids beyond its window: at `now`, or with a `past`."""
        self.key: Final = key
        self._spec = spec
        self.create_time: Final = past.create_time if past is not None else now
        self._last_active_time = now
        self._turn_count = past.turn_count if past is not None else 0
        self._arrivals = 0
        self._window: list[_Placed] = []
        self._remembered: dict[InteractionId, None] = {}  # in order of arrival
        self._remembered_max = spec.window_turns + remembered_turns
        self.size_bytes = 0

    @classmethod
    def of(
        cls,
        session: Session,
        interaction_ids: Sequence[InteractionId],
        *,
        known: LiveSession | None,
        remembered_turns: int,
    ) -> LiveSession:
        """Take over the state that another store reports, with the ids that `known` remembers and those given."""
        live = cls(session.key, session.spec, now=session.create_time, remembered_turns=remembered_turns)
        # Another create time means that the session was deleted and made anew: what it knew is gone with it.
        if known is not None and known.create_time == session.create_time:
            live._remembered.update(known.remembered_ids)
        live._remembered.update(dict.fromkeys(interaction_ids))
        live._remembered.update(dict.fromkeys(turn.interaction_id for turn in session.turns))
        live._window = [(turn.position, number, turn) for number, turn in enumerate(session.turns)]
        live._arrivals = len(session.turns)
        live._turn_count = session.turn_count
        live._last_active_time = session.last_active_time
        live.size_bytes = sum(turn_size_bytes(turn.turn) for turn in session.turns)
        live._forget_oldest()
        return live

    @property
    def remembered_ids(self) -> Mapping[InteractionId, None]:
        """Ids of turns that would not be added again, in order of arrival."""
        return self._remembered

    @property
    def expire_time(self) -> datetime:
        """When it is gone."""
        return self._last_active_time + self._spec.ttl

    def is_ahead_of(self, session: Session) -> bool:
        """Whether this is a later state of the same session."""
        return (session.create_time, session.turn_count) < (self.create_time, self._turn_count)

    def touch(self, now: datetime) -> None:
        """Make `now` the last active time, unless there is a later one."""
        self._last_active_time = max(self._last_active_time, now)

    def set_ttl(self, ttl: timedelta) -> None:
        """Set another time to live."""
        self._spec = SessionSpec(self._spec.window_turns, ttl)

    def append(self, turns: Sequence[NewTurn]) -> list[NewTurn]:
        """Add those turns that are new and return them."""
        added: list[NewTurn] = []
        for turn in turns:
            if turn.interaction_id not in self._remembered:
                self._place(turn)
                added.append(turn)
        self._forget_oldest()
        return added

    def snapshot(self, *, with_turns: bool = True) -> Session:
        """The session as a value."""
        return Session(
            key=self.key,
            spec=self._spec,
            turns=tuple(turn for _, _, turn in self._window) if with_turns else (),
            create_time=self.create_time,
            last_active_time=self._last_active_time,
            turn_count=self._turn_count,
        )

    def _place(self, new: NewTurn) -> None:
        position = new.position
        if position is None:
            # At the end of the scale turns share the last position: arrival still orders them.
            position = min(self._window[-1][0] + 1, POSITION_MAX) if self._window else 0
        turn = SessionTurn(
            interaction_id=new.interaction_id,
            position=position,
            turn=new.turn,
            token_count=new.token_count,
            scope=new.scope,
        )
        insort(self._window, (position, self._arrivals, turn), key=lambda placed: placed[:2])
        self._remembered[new.interaction_id] = None
        self._arrivals += 1
        self._turn_count += 1
        self.size_bytes += turn_size_bytes(new.turn)
        if len(self._window) > self._spec.window_turns:
            _, _, dropped = self._window.pop(0)
            self.size_bytes -= turn_size_bytes(dropped.turn)

    def _forget_oldest(self) -> None:
        excess = len(self._remembered) - self._remembered_max
        if excess <= 0:
            return
        in_window = {turn.interaction_id for _, _, turn in self._window}
        for interaction_id in list(self._remembered)[:excess]:
            if interaction_id not in in_window:
                del self._remembered[interaction_id]
