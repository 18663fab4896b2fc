"""Stage fetch: how many texts are asked for at once."""

from __future__ import annotations

import pytest

from services.common.scope import GLOBAL_SCOPE
from services.gateway.recall.fetch import Fetch
from services.gateway.recall.model import RankedEpisode
from tests.unit.gateway.tiers import ADA, FakeTiers


def ranked(*text_chars: int) -> list[RankedEpisode]:
    return [RankedEpisode(str(number), 1.0, (), (), chars) for number, chars in enumerate(text_chars)]


@pytest.mark.parametrize(
    ("text_chars", "asked"),
    [((10, 10, 10), 2), ((10, 10), 2), ((21, 1), 1), ((10, 11, 1), 1), ((0, 0, 20), 3)],
)
async def test_texts_of_the_lowest_ranks_are_left_out_where_all_do_not_fit(
    text_chars: tuple[int, ...], asked: int
) -> None:
    tiers = FakeTiers()
    fetch = Fetch(tiers.upstream(), text_chars_max=20)
    await fetch(ADA, "ada", ranked(*text_chars), reader=GLOBAL_SCOPE, timeout_seconds=1.0)
    (request,) = tiers.episodic.method("batch_get").requests
    assert list(request.episode_ids) == [str(number) for number in range(asked)]
